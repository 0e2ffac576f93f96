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
