/** What a prompt asks for, in a few words. They are ours: nothing of what the agent wrote is in them. */
import type { Prompt } from "../store/items.ts";
import { kindOf } from "../store/tool-kinds.ts";
import { wantsKnown } from "../store/wants.ts";
import { labelOf, mcpName } from "../tools/names.ts";
import { exact } from "./exact.ts";

export function isPlan(prompt: Prompt): boolean {
  return prompt.kind === "permission" && kindOf(prompt.toolKind, prompt.tool) === "plan";
}

export function titleOf(prompt: Prompt): string {
  if (prompt.kind === "question") {
    return prompt.questions.length > 1 ? "Has questions for you" : "Has a question for you";
  }
  return wantsKnown(prompt.tool, prompt.toolKind) ?? "Wants to use a tool";
}

/** The tool, where the title does not say it already. */
export function toolName(tool: string, kind: Prompt["toolKind"] = ""): string {
  if (wantsKnown(tool, kind) !== undefined) return "";
  return exact(mcpName(tool) === undefined ? tool : labelOf(tool));
}
