import * as fc from "fast-check";
import { expect, test } from "vitest";
import { hunksOf, patchText, summaryOf, summaryText } from "./hunks.ts";

// As Claude Code tells an edit, and as our driver tells one that was too long.
const EDIT = {
  oldStart: 1,
  oldLines: 3,
  newStart: 1,
  newLines: 3,
  lines: [" one", "-two", "+TWO", " three"],
};
const CUT = [
  { ...EDIT, lines: ["-a", "+b", "\\ 40 more lines"] },
  { lines: ["\\ 2 more changes, too long to be shown here"] },
];

test("a patch is taken as it is told", () => {
  expect(hunksOf([EDIT])).toEqual([EDIT]);
});

test("a patch that was cut has its remark, without numbers", () => {
  expect(hunksOf(CUT)[1]).toEqual({
    oldStart: 0,
    oldLines: 0,
    newStart: 0,
    newLines: 0,
    lines: ["\\ 2 more changes, too long to be shown here"],
  });
});

test("anything can be given, and only hunks come out", () => {
  fc.assert(
    fc.property(fc.anything(), (patch) => {
      for (const hunk of hunksOf(patch)) {
        expect(hunk.lines.every((one) => typeof one === "string")).toBe(true);
        expect(hunk.oldStart).toBeGreaterThanOrEqual(0);
      }
    }),
  );
  expect(hunksOf([{ ...EDIT, oldStart: -1, newStart: "x", lines: [1, "+a"] }])).toEqual([
    { ...EDIT, oldStart: 0, newStart: 0, lines: ["+a"] },
  ]);
});

test("lines are counted", () => {
  expect(summaryText(summaryOf(hunksOf([EDIT])))).toBe("+1 \u22121");
  expect(summaryText(summaryOf(hunksOf(CUT)))).toBe("+1 \u22121 and more");
});

test("a patch can be copied", () => {
  expect(patchText("a.txt", [EDIT])).toBe(
    "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
  );
});
