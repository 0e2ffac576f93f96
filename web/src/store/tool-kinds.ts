/** The kind of a tool call and what it is about, in words that hold for every agent. */
import type { ToolStartedEvent, ToolSubject } from "../protocol.gen.ts";
import { OLD_TOOL_KINDS } from "./old-tool-kinds.gen.ts";
import { own } from "./values.ts";

export type ToolKind = Exclude<NonNullable<ToolStartedEvent["kind"]>, "">;

/** Every field may be "" or empty; long texts are cut and end with " …". */
export type Subject = Readonly<Required<Omit<ToolSubject, "paths">>> & {
  readonly paths: readonly string[];
};

export const NO_SUBJECT: Subject = { title: "", command: "", paths: [], diff: "", url: "" };

export function subjectOf(told: ToolSubject | undefined): Subject {
  return told === undefined ? NO_SUBJECT : { ...NO_SUBJECT, ...told };
}

export function isCut(text: string): boolean {
  return text.endsWith(" …");
}

/** The recorded kind; else that of its name: it is being written, or in a log from before there were kinds. */
export function kindOf(kind: ToolKind | "" | undefined, name: string): ToolKind {
  if (kind !== undefined && kind !== "") return kind;
  return name.startsWith("mcp__") ? "mcp" : (own(OLD_TOOL_KINDS, name) ?? "other");
}
