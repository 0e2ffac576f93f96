/** What a prompt asks for, in a few words. They are ours: nothing of what the agent wrote is in them. */
import type { Prompt } from "../store/items.ts";

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

export function isPlan(prompt: Prompt): boolean {
  return prompt.kind === "permission" && prompt.tool === "ExitPlanMode";
}

export function titleOf(prompt: Prompt): string {
  if (prompt.kind === "question") {
    return prompt.questions.length > 1 ? "Has questions for you" : "Has a question for you";
  }
  if (isPlan(prompt)) return "Has a plan for you to review";
  return WORDS[prompt.tool] ?? "Wants to use a tool";
}

/** The tool, where the title does not say it already. */
export function toolName(tool: string): string {
  if (tool in WORDS || tool === "ExitPlanMode") return "";
  const [, server = "", ...rest] = tool.split("__");
  if (!tool.startsWith("mcp__") || rest.length === 0) return tool;
  return `${readable(server)} > ${readable(rest.join("__"))}`;
}

function readable(name: string): string {
  const words = name.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
