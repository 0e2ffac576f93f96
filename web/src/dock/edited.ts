/** A tool's input as somebody changes it: field by field, checked before it is sent. */
import type { Json } from "../store/items.ts";
import { type Fields, fieldsOf, isFields } from "../store/values.ts";

export interface EditField {
  readonly name: string;
  /** What stands in the box. */
  readonly text: string;
  /** A text as it is; anything else is written as JSON. */
  readonly plain: boolean;
}

/** The gateway takes no message that is larger. */
const MOST_CHARS = 700_000;

export function fieldsIn(input: Json): readonly EditField[] {
  return Object.entries(fieldsOf(input)).map(([name, value]) => ({
    name,
    text: typeof value === "string" ? value : JSON.stringify(value, null, 2),
    plain: typeof value === "string",
  }));
}

export type Checked =
  | { readonly input: Fields; readonly problem: "" }
  | { readonly input: undefined; readonly problem: string };

export function fromFields(fields: readonly EditField[]): Checked {
  const input: Fields = {};
  for (const one of fields) {
    try {
      input[one.name] = one.plain ? one.text : (JSON.parse(one.text) as Json);
    } catch {
      return { input: undefined, problem: `${one.name} is not JSON.` };
    }
  }
  return sized(input);
}

export function fromJson(text: string): Checked {
  try {
    const value: unknown = JSON.parse(text);
    if (!isFields(value)) return { input: undefined, problem: "The input of a tool is an object." };
    return sized(value);
  } catch (error) {
    return { input: undefined, problem: `Not JSON: ${(error as Error).message}` };
  }
}

function sized(input: Fields): Checked {
  const length = JSON.stringify(input).length;
  if (length > MOST_CHARS) return { input: undefined, problem: "That is too long to be sent." };
  return { input, problem: "" };
}

export function isSame(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
