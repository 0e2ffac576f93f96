/** What an agent wants to be allowed, in the same few words wherever it is told: dock, list, notification. */
import { type ToolKind, kindOf } from "./tool-kinds.ts";
import { own } from "./values.ts";
import { labelOf } from "../tools/names.ts";

const BY_KIND: Readonly<Partial<Record<ToolKind, string>>> = {
  agent: "Wants to start a subagent",
  edit: "Wants to change a file",
  execute: "Wants to run a command",
  fetch: "Wants to fetch a page",
  plan: "Has a plan for you to review",
  read: "Wants to read a file",
  search: "Wants to search files",
};

/** What Claude's tools do, where that is more than their kind says; only together with that kind. */
const BY_NAME: Readonly<Record<string, readonly [ToolKind, string]>> = {
  BashOutput: ["execute", "Wants to read a command's output"],
  Glob: ["search", "Wants to look for files"],
  LS: ["search", "Wants to list a folder"],
  NotebookEdit: ["edit", "Wants to change a notebook"],
  Skill: ["other", "Wants to use a skill"],
  TaskOutput: ["execute", "Wants to read a command's output"],
  WebSearch: ["fetch", "Wants to search the web"],
  Write: ["edit", "Wants to write a file"],
};

/** Words of ours for a kind of tool; undefined: the tool has to be named. */
export function wantsKnown(tool: string, told: ToolKind | "" = ""): string | undefined {
  const kind = kindOf(told, tool);
  const [of, words] = own(BY_NAME, tool) ?? [];
  return of === kind ? words : BY_KIND[kind];
}

export function wants(tool: string, kind: ToolKind | "" = ""): string {
  return wantsKnown(tool, kind) ?? `Wants to use ${tool === "" ? "a tool" : labelOf(tool)}`;
}
