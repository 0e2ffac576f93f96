/** Tools by the names people know them by. */
import type { ToolKind } from "../store/tool-kinds.ts";
import { own } from "../store/values.ts";

const VERBS: Readonly<Record<string, string>> = {
  Agent: "Agent",
  AskUserQuestion: "Question",
  Bash: "Run",
  BashOutput: "Read output",
  Edit: "Edit",
  EnterPlanMode: "Plan",
  ExitPlanMode: "Plan",
  Glob: "Find",
  Grep: "Search",
  KillShell: "Stop",
  LS: "List",
  MultiEdit: "Edit",
  NotebookEdit: "Edit cell",
  NotebookRead: "Read notebook",
  Read: "Read",
  Skill: "Skill",
  Task: "Agent",
  TaskCreate: "New task",
  TaskGet: "Look at task",
  TaskList: "Look at tasks",
  TaskOutput: "Read output",
  TaskStop: "Stop",
  TaskUpdate: "Task",
  TodoWrite: "Tasks",
  ToolSearch: "Find tools",
  WebFetch: "Fetch",
  WebSearch: "Search the web",
  Write: "Write",
};

const BY_KIND: Readonly<Partial<Record<ToolKind, string>>> = {
  agent: "Agent",
  edit: "Edit",
  execute: "Run",
  fetch: "Fetch",
  plan: "Plan",
  read: "Read",
  search: "Search",
  task: "Tasks",
  think: "Think",
};

const CAPITALS: Readonly<Record<string, string>> = {
  api: "API",
  github: "GitHub",
  gitlab: "GitLab",
  http: "HTTP",
  id: "ID",
  sql: "SQL",
  url: "URL",
};

export interface McpName {
  readonly server: string;
  readonly tool: string;
}

/** `mcp__github__search_repositories` → github, search_repositories. */
export function mcpName(name: string): McpName | undefined {
  const found = /^mcp__(.+?)__(.+)$/.exec(name);
  const [, server, tool] = found ?? [];
  return server === undefined || tool === undefined ? undefined : { server, tool };
}

/** "GitHub > Search Repositories" for a tool of a server, a verb where we know one, its name otherwise. */
export function labelOf(name: string, kind: ToolKind | "" = ""): string {
  const mcp = mcpName(name);
  if (mcp !== undefined) return `${titled(mcp.server)} > ${titled(mcp.tool)}`;
  // of a call whose beginning is not here yet, only its end is known
  const verb = own(VERBS, name);
  return verb ?? (kind === "" ? undefined : BY_KIND[kind]) ?? (name || "Tool");
}

export function titled(words: string): string {
  return words
    .split(/[_\-\s]+/)
    .filter((one) => one !== "")
    .map((one) => capitals(one.toLowerCase()) ?? one.charAt(0).toUpperCase() + one.slice(1))
    .join(" ");
}

function capitals(word: string): string | undefined {
  return own(CAPITALS, word);
}
