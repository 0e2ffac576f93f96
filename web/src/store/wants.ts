/** What an agent wants to be allowed, in the same few words wherever it is told: dock, list, notification. */
import { own } from "./values.ts";
import { labelOf } from "../tools/names.ts";

export const PLAN = "ExitPlanMode";

const WORDS: Readonly<Record<string, string>> = {
  Bash: "Wants to run a command",
  BashOutput: "Wants to read a command's output",
  Edit: "Wants to change a file",
  MultiEdit: "Wants to change a file",
  NotebookEdit: "Wants to change a notebook",
  Write: "Wants to write a file",
  Read: "Wants to read a file",
  Glob: "Wants to look for files",
  Grep: "Wants to search files",
  LS: "Wants to list a folder",
  WebFetch: "Wants to fetch a page",
  WebSearch: "Wants to search the web",
  Task: "Wants to start a subagent",
  Agent: "Wants to start a subagent",
  Skill: "Wants to use a skill",
};

/** Words of ours for a tool that people know; undefined: it has to be named. */
export function wantsKnown(tool: string): string | undefined {
  if (tool === PLAN) return "Has a plan for you to review";
  return own(WORDS, tool);
}

export function wants(tool: string): string {
  return wantsKnown(tool) ?? `Wants to use ${tool === "" ? "a tool" : labelOf(tool)}`;
}
