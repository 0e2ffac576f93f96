/**
 * A system notification for each prompt that nobody here sees: one each, and gone when it is
 * answered, wherever that was.
 */
import type { Waiting } from "../store/prompts.ts";
import { titleOf } from "../store/attention.ts";
import { wants } from "../store/wants.ts";

export interface Shown {
  close(): void;
}

export interface Told {
  readonly title: string;
  readonly body: string;
  /** The prompt's id: the system replaces what has the same. */
  readonly tag: string;
}

export type Show = (told: Told, clicked: () => void) => Shown | undefined;

export class Notifications {
  private readonly shown = new Map<string, Shown>();
  private readonly known = new Set<string>();
  private first = true;

  constructor(
    private readonly show: Show,
    private readonly open: (waiting: Waiting) => void,
    private readonly heard: () => void = () => {},
  ) {}

  /** `seen`: whether a person looks at that session now. `allowed`: they want to be told. */
  update(all: readonly Waiting[], seen: (session: string) => boolean, allowed: boolean): void {
    const open = new Set(all.map((one) => one.prompt.id));
    for (const [id, one] of [...this.shown]) {
      if (open.has(id)) continue;
      one.close();
      this.shown.delete(id);
    }
    let rang = this.first; // what was there before the page is no news to ring for
    this.first = false;
    for (const id of [...this.known]) if (!open.has(id)) this.known.delete(id);
    for (const one of all) {
      const { id } = one.prompt;
      if (this.known.has(id)) continue;
      this.known.add(id);
      if (seen(one.session)) continue;
      if (!rang) this.heard();
      rang = true;
      const made = allowed ? this.show(toldOf(one), () => this.open(one)) : undefined;
      if (made !== undefined) this.shown.set(id, made);
    }
  }

  /** Somebody looks at that session now: what was said about it is seen. */
  withdraw(all: readonly Waiting[], session: string): void {
    for (const one of all) {
      if (one.session !== session) continue;
      this.shown.get(one.prompt.id)?.close();
      this.shown.delete(one.prompt.id);
    }
  }
}

export function toldOf(one: Waiting): Told {
  const { prompt } = one;
  const body =
    prompt.kind === "question"
      ? (prompt.questions[0]?.question ?? "Asks you a question")
      : wants(prompt.tool, prompt.toolKind);
  return { title: titleOf(one), body, tag: prompt.id };
}

/** "(2) Title · Flybridge": how many sessions wait, before anything else. */
export function pageTitle(waiting: number, name: string): string {
  const plain = name === "" ? "Flybridge" : `${name} · Flybridge`;
  return waiting > 0 ? `(${waiting}) ${plain}` : plain;
}
