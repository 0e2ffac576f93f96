import { expect, test } from "vitest";
import { emptyTool } from "../store/reduce-items.ts";
import type { ToolKind } from "../store/tool-kinds.ts";
import { Bash } from "./bash.tsx";
import { Edit } from "./edit.tsx";
import { Generic } from "./generic.tsx";
import { Notebook } from "./notebook.tsx";
import { PlanReview } from "./plan-review.tsx";
import { Questions } from "./questions.tsx";
import { Read } from "./read.tsx";
import { bodyOf, opensItself } from "./registry.tsx";
import { Search } from "./search.tsx";
import { Subagent } from "./subagent.tsx";
import { Todo } from "./todo.tsx";
import { Web } from "./web.tsx";

const old = (name: string) => bodyOf({ name, tool: "" });

test.each(["constructor", "__proto__", "toString", "hasOwnProperty", ""])(
  "a tool that is called %s is one nobody has told us about",
  (name) => {
    expect(old(name)).toBe(Generic);
    expect(bodyOf({ name, tool: "other" })).toBe(Generic);
    expect(old("Bash")).toBe(Bash);
  },
);

test.each([
  ["agent", Subagent],
  ["edit", Edit],
  ["execute", Bash],
  ["fetch", Web],
  ["mcp", Generic],
  ["other", Generic],
  ["plan", PlanReview],
  ["read", Read],
  ["search", Search],
  ["task", Generic],
  ["think", Generic],
] as const)("a tool of any agent is shown by its kind: %s", (tool, body) => {
  expect(bodyOf({ name: "courier_tool", tool })).toBe(body);
});

test.each([
  ["Agent", Subagent],
  ["AskUserQuestion", Questions],
  ["Bash", Bash],
  ["BashOutput", Bash],
  ["Edit", Edit],
  ["ExitPlanMode", PlanReview],
  ["Glob", Search],
  ["Grep", Search],
  ["LS", Search],
  ["MultiEdit", Edit],
  ["NotebookEdit", Notebook],
  ["Read", Read],
  ["Task", Subagent],
  ["TaskOutput", Bash],
  ["TodoWrite", Todo],
  ["WebFetch", Web],
  ["WebSearch", Web],
  ["Write", Edit],
  ["KillShell", Generic],
])("a call from before there were kinds is shown as it was: %s", (name, body) => {
  expect(old(name)).toBe(body);
});

test("a name counts only together with its kind: another agent may call its tools the same", () => {
  expect(bodyOf({ name: "NotebookEdit", tool: "execute" })).toBe(Bash);
  expect(bodyOf({ name: "TodoWrite", tool: "task" })).toBe(Todo);
});

test("changes that were made and agents at work open by themselves", () => {
  const of = (tool: ToolKind, status: "ok" | "running") =>
    opensItself({
      ...emptyTool({ id: "t", parent: "", atMs: 0, seq: 1, past: false }, ""),
      name: "courier_tool",
      tool,
      status,
    });
  expect(of("edit", "ok")).toBe(true);
  expect(of("edit", "running")).toBe(false);
  expect(of("agent", "running")).toBe(true);
  expect(of("execute", "running")).toBe(false);
});
