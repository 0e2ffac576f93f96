/** Reading values that came from outside: what is not as expected is as if it were not there. */
import type { Json } from "./items.ts";

export type Fields = { [key: string]: Json };

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

export function textsOf(value: unknown): readonly string[] {
  return listOf(value).filter((one): one is string => typeof one === "string");
}

/** Of JSON that may not be whole yet; undefined: it is not. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const STARTED = /\s*\{\s*/y;
const FIELD =
  /"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|-?[\d.]+(?=\s*[,}])|true|false|null)\s*,?\s*/y;

/** The first fields of an object whose text is not whole, as long as they are simple ones. */
export function leading(text: string): Fields {
  const found: Fields = {};
  STARTED.lastIndex = 0;
  if (!STARTED.test(text)) return found;
  FIELD.lastIndex = STARTED.lastIndex;
  for (let one = FIELD.exec(text); one !== null; one = FIELD.exec(text)) {
    const name = parsed(`"${one[1] ?? ""}"`);
    const value = parsed(one[2] ?? "");
    if (typeof name === "string" && value !== undefined) found[name] = value;
  }
  return found;
}

/** What a table has under a name from outside, which may be `constructor`. */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
