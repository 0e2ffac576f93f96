/** Which component shows the inside of a call: chosen by its kind, and for some tools of Claude's by name. */
import { type ToolKind, kindOf } from "../store/tool-kinds.ts";
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

type Body = ComponentType<BodyProps>;

const BY_KIND: Readonly<Partial<Record<ToolKind, Body>>> = {
  agent: Subagent,
  edit: Edit,
  execute: Bash,
  fetch: Web,
  plan: PlanReview,
  read: Read,
  search: Search,
};

/** Claude's tools whose input has more to show than their kind says; only together with that kind. */
const BY_NAME: Readonly<Record<string, readonly [ToolKind, Body]>> = {
  AskUserQuestion: ["other", Questions],
  NotebookEdit: ["edit", Notebook],
  TodoWrite: ["task", Todo],
};

/** Other calls show everything they were given and said. */
export function bodyOf(item: Pick<ToolItem, "name" | "tool">): Body {
  const kind = kindOf(item.tool, item.name);
  const [of, body] = own(BY_NAME, item.name) ?? [];
  return (of === kind ? body : BY_KIND[kind]) ?? Generic;
}

/** Errors and changes are seen without asking; what was only looked at is not. */
export function opensItself(item: ToolItem): boolean {
  if (item.status === "error" || item.status === "denied") return true;
  // while somebody is asked about it, the question shows it
  const kind = kindOf(item.tool, item.name);
  if (kind === "edit") return item.status === "ok";
  return item.status === "running" && kind === "agent";
}
