/** Which component shows the inside of which tool: one line each. */
import { own } from "../store/values.ts";
import type { ComponentType } from "react";
import type { ToolItem } from "../store/items.ts";
import { Bash } from "./bash.tsx";
import type { BodyProps } from "./body.ts";
import { Edit } from "./edit.tsx";
import { Generic } from "./generic.tsx";
import { Notebook } from "./notebook.tsx";
import { PlanReview } from "./plan-review.tsx";
import { Questions } from "./questions.tsx";
import { Read } from "./read.tsx";
import { Search } from "./search.tsx";
import { Subagent } from "./subagent.tsx";
import { Todo } from "./todo.tsx";
import { Web } from "./web.tsx";

const BODIES: Readonly<Record<string, ComponentType<BodyProps>>> = {
  Agent: Subagent,
  AskUserQuestion: Questions,
  Bash,
  BashOutput: Bash,
  Edit,
  ExitPlanMode: PlanReview,
  Glob: Search,
  Grep: Search,
  LS: Search,
  MultiEdit: Edit,
  NotebookEdit: Notebook,
  Read,
  Task: Subagent,
  TaskOutput: Bash,
  TodoWrite: Todo,
  WebFetch: Web,
  WebSearch: Web,
  Write: Edit,
};

/** Tools nobody has told us about show everything they were given and said. */
export function bodyOf(name: string): ComponentType<BodyProps> {
  return own(BODIES, name) ?? Generic;
}

const CHANGES = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

/** Errors and changes are seen without asking; what was only looked at is not. */
export function opensItself(item: ToolItem): boolean {
  if (item.status === "error" || item.status === "denied") return true;
  // while somebody is asked about it, the question shows it
  if (CHANGES.has(item.name)) return item.status === "ok";
  return item.status === "running" && (item.name === "Task" || item.name === "Agent");
}
