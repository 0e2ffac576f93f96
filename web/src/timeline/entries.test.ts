import { expect, test } from "vitest";
import type { Item, ToolItem } from "../store/items.ts";
import { emptyText, emptyTool } from "../store/reduce-items.ts";
import type { ToolKind } from "../store/tool-kinds.ts";
import { PAGE_SPAN, entriesOf, groupTitle, pagesOf } from "./entries.ts";

function tool(id: string, name: string, seq: number, status: ToolItem["status"] = "ok"): ToolItem {
  return { ...emptyTool({ id, parent: "", atMs: 0, seq, past: false }, "t"), name, status };
}

function text(id: string, seq: number, said: string): Item {
  const empty = emptyText("text", { id, parent: "", atMs: 0, seq, past: false }, "t");
  return { ...empty, text: said, status: "complete" };
}

function entries(items: readonly Item[], after = 0) {
  const known = new Map(items.map((one) => [one.id, one]));
  return entriesOf([...known.keys()], (id) => known.get(id), after);
}

test("several tools in a row that only looked are one line", () => {
  const found = entries([tool("a", "Read", 1), tool("b", "Grep", 2), tool("c", "Bash", 3)]);
  expect(found.map((one) => [one.kind, one.id])).toEqual([
    ["group", "a"],
    ["item", "c"],
  ]);
});

test("one look alone, a failed one and a running one are lines of their own", () => {
  const found = entries([
    tool("a", "Read", 1),
    text("t", 2, "hm"),
    tool("b", "Read", 3, "error"),
    tool("c", "Read", 4, "running"),
  ]);
  expect(found.map((one) => one.kind)).toEqual(["item", "item", "item", "item"]);
});

test("looking and keeping a list are two lines", () => {
  const found = entries([
    tool("a", "Read", 1),
    tool("b", "Glob", 2),
    tool("c", "TaskCreate", 3),
    tool("d", "TaskUpdate", 4),
  ]);
  expect(found.map((one) => one.id)).toEqual(["a", "c"]);
});

test("a compaction that is over is one line", () => {
  const note = (id: string, seq: number, said: string): Item => ({
    ...text(id, seq, ""),
    kind: "note",
    note: "compaction",
    text: said,
    level: "info",
    event: null,
    blob: "",
  });
  expect(entries([note("a", 1, "started")]).map((one) => one.id)).toEqual(["a"]);
  expect(entries([note("a", 1, "started"), note("b", 2, "done")]).map((one) => one.id)).toEqual([
    "b",
  ]);
});

test("an edit is never folded away", () => {
  const found = entries([tool("a", "Read", 1), tool("b", "Edit", 2), tool("c", "Read", 3)]);
  expect(found.map((one) => one.id)).toEqual(["a", "b", "c"]);
});

test("what was cleared from view is not there, and nothing empty is", () => {
  const found = entries([text("a", 1, "old"), text("b", 5, "new"), text("c", 6, "")], 4);
  expect(found.map((one) => one.id)).toEqual(["b"]);
});

test("a page has the same border whatever is loaded before it", () => {
  const late = [text("x", 3 * PAGE_SPAN + 1, "x"), text("y", 3 * PAGE_SPAN + 2, "y")];
  const early = [text("a", PAGE_SPAN, "a"), text("b", 2 * PAGE_SPAN, "b")];
  const alone = pagesOf(entries(late));
  const more = pagesOf(entries([...early, ...late]));
  expect(more.slice(-1)).toEqual(alone);
  expect(more.map((one) => one.key)).toEqual([1, 2, 3]);
});

test("a folded line says how much was looked at", () => {
  const items = [tool("a", "Read", 1), tool("b", "Read", 2), tool("c", "Grep", 3)];
  expect(groupTitle("looks", items)).toBe("Explored: 2 files, 1 search");
});

test("tools of any agent fold by their kind", () => {
  const of = (id: string, kind: ToolKind, seq: number) => ({ ...tool(id, "t", seq), tool: kind });
  const looks = [of("a", "read", 1), of("b", "search", 2), of("c", "fetch", 3)];
  expect(entries([...looks, of("d", "execute", 4)]).map((one) => one.id)).toEqual(["a", "d"]);
  expect(groupTitle("looks", looks)).toBe("Explored: 1 file, 1 search, 1 page");
});

test("a tool of another agent with the name of one of Claude's folds by its kind", () => {
  const other = (id: string, name: string, seq: number, kind: ToolKind): ToolItem => ({
    ...tool(id, name, seq),
    tool: kind,
  });
  const items = [other("a", "TodoWrite", 1, "read"), other("b", "WebSearch", 2, "read")];
  expect(entries(items).map((one) => one.kind)).toEqual(["group"]);
  expect(groupTitle("looks", items)).toBe("Explored: 2 files");
  expect(
    entries([other("c", "ToolSearch", 3, "edit"), other("d", "Read", 4, "edit")]),
  ).toHaveLength(2);
});
