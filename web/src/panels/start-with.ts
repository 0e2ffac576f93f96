/** What the form for a new session begins with, when it is opened from somewhere that knows. */
import type { Draft } from "./start-form.ts";

let given: Partial<Draft> = {};

export function startWith(draft: Partial<Draft>): void {
  given = draft;
}

/** Once: the next time the form is opened it is empty again. */
export function takeStart(): Partial<Draft> {
  const one = given;
  given = {};
  return one;
}
