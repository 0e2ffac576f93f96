// Written by tools/schema.py from session/old_tools.py; edit that, then make docs.
import type { ToolKind } from "./tool-kinds.ts";

/** The kinds of tool calls in rows that were written before calls had one. */
export const OLD_TOOL_KINDS: Readonly<Record<string, ToolKind>> = {
  Agent: "agent",
  Bash: "execute",
  BashOutput: "execute",
  Edit: "edit",
  ExitPlanMode: "plan",
  Glob: "search",
  Grep: "search",
  LS: "search",
  Monitor: "execute",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  NotebookRead: "read",
  PowerShell: "execute",
  REPL: "execute",
  Read: "read",
  Task: "agent",
  TaskCreate: "task",
  TaskGet: "task",
  TaskList: "task",
  TaskOutput: "execute",
  TaskUpdate: "task",
  TodoWrite: "task",
  WebFetch: "fetch",
  WebSearch: "fetch",
  Write: "edit",
};
