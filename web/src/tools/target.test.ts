import { expect, test } from "vitest";
import type { ToolSubject } from "../protocol.gen.ts";
import type { Json } from "../store/items.ts";
import { emptyTool } from "../store/reduce-items.ts";
import { type ToolKind, subjectOf } from "../store/tool-kinds.ts";
import { shortPath, targetOf } from "./target.ts";

const tool = (name: string, input: Json) => ({
  ...emptyTool({ id: "t", parent: "", atMs: 0, seq: 1, past: false }, ""),
  name,
  input,
});

test.each<[string, Json, string]>([
  ["Read", { file_path: "/w/src/a.py" }, "src/a.py"],
  ["Bash", { command: "make\ntest", description: "x" }, "make …"],
  ["Grep", { pattern: "TODO", path: "/w/src" }, "TODO in src"],
  ["Task", { description: "Look", prompt: "long" }, "Look"],
  ["TodoWrite", { todos: [{}, {}] }, "2 tasks"],
  ["mcp__x__y", { n: 3, name: "boat" }, "boat"],
  ["Bash", null, ""],
])("%s of %j is shown as %s", (name, input, shown) => {
  expect(targetOf(tool(name, input), "/w")).toBe(shown);
});

test("a call that is still being written shows what can be read of it", () => {
  const writing = { ...tool("Bash", null), input: undefined, draft: '{"command": "ls"}' };
  expect(targetOf(writing)).toBe("ls");
  expect(targetOf({ ...writing, draft: '{"comm' })).toBe("");
  expect(targetOf({ ...writing, draft: '{"file_path": "/a.py", "content": "x' })).toBe("/a.py");
});

test("only what is below the folder is shortened", () => {
  expect(shortPath("/boats/a", "/boat")).toBe("/boats/a");
  expect(shortPath("/boats/a", "/boats/")).toBe("a");
});

test.each<[ToolKind, ToolSubject, string]>([
  ["execute", { command: "ls", title: "List" }, "ls"],
  ["edit", { paths: ["/w/a", "/x/b"] }, "a, /x/b"],
  ["search", { title: "keel", paths: ["/w/src"] }, "keel in src"],
  ["search", { title: "keel", paths: ["/w"] }, "keel"],
  ["fetch", { title: "sum up", url: "https://a.example" }, "https://a.example"],
  ["agent", { title: "scout" }, "scout"],
])("a call of kind %s about %j is shown as %s", (kind, about, shown) => {
  const item = { ...tool("courier_tool", { argv: "x" }), tool: kind };
  expect(targetOf({ ...item, subject: subjectOf(about) }, "/w")).toBe(shown);
});
