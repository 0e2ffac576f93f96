import { expect, test } from "vitest";
import type { ToolItem } from "../store/items.ts";
import { emptyTool } from "../store/reduce-items.ts";
import { changedLines, summaryOf } from "./summary.ts";

const tool = (change: Partial<ToolItem>): ToolItem => ({
  ...emptyTool({ id: "t", parent: "", atMs: 0, seq: 1, past: false }, ""),
  ...change,
});

test.each<[Partial<ToolItem>, string]>([
  [{ name: "Bash", status: "ok", text: "a\nb\n" }, "2 lines"],
  [{ name: "Bash", status: "ok", text: "" }, "no output"],
  [{ name: "Bash", status: "error", text: "Exit code 2\nboom" }, "exit 2"],
  [{ name: "Edit", status: "denied" }, "denied"],
  [{ name: "Grep", status: "ok", detail: { numFiles: 3 } }, "3 files"],
  [{ name: "Glob", status: "ok", detail: { filenames: ["a", "b"] } }, "2 files"],
  [{ name: "Read", status: "ok", detail: { file: { numLines: 1 } } }, "1 line"],
  [{ name: "Read", status: "ok", detail: { type: "image", _omitted: ["file"] } }, "picture"],
  [{ name: "Read", status: "ok", detail: { file: { cells: [{}, {}] } } }, "2 cells"],
  [{ name: "Bash", status: "ok", text: "the beginning", blob: "digest" }, "over 64 KB"],
  [{ name: "Bash", status: "error", text: "x", stopped: true }, "interrupted"],
  [
    { name: "Write", status: "writing", draft: `{"content":"${"a long line\\n".repeat(99)}` },
    "100 lines",
  ],
  [{ name: "Bash", status: "running" }, ""],
  [
    { name: "AskUserQuestion", status: "ok", detail: { answers: { "Which?": "Red", "Who?": "" } } },
    "Red",
  ],
])("%j ends with %s", (change, words) => {
  expect(summaryOf(tool(change))).toBe(words);
});

test("lines are counted over all differences", () => {
  const patch = [{ lines: ["+a", "-b", " c", "+d"] }];
  const diffs = [
    { path: "x", patch, blob: "" },
    { path: "y", patch, blob: "" },
  ];
  expect(changedLines(tool({ diffs }))).toEqual({ added: 4, removed: 2 });
});
