import { expect, test } from "vitest";
import type { Hunk } from "./hunks.ts";
import { rowsOf } from "./rows.ts";
import { coloursOfRows, sidesOf } from "./sides.ts";

const HUNKS: readonly Hunk[] = [
  {
    oldStart: 1,
    oldLines: 3,
    newStart: 1,
    newLines: 3,
    lines: [" a", "-b", "+c", " d", "\\ No newline at end of file"],
  },
  { oldStart: 9, oldLines: 1, newStart: 9, newLines: 2, lines: [" e", "+f"] },
];

test("each text has the lines that stay and its own", () => {
  expect(sidesOf(rowsOf(HUNKS))).toEqual({ old: "a\nb\nd\ne", new: "a\nc\nd\ne\nf" });
});

test("where nothing goes away there is one text to colour", () => {
  const grown = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 2, lines: [" a", "+b"] }];
  expect(sidesOf(rowsOf(grown))).toEqual({ old: "", new: "a\nb" });
});

test("each row gets the colours of its own line", () => {
  const rows = rowsOf(HUNKS);
  const before = [[1], [2], [3], [4]];
  const after = [[11], [12], [13], [14], [15]];
  const found = coloursOfRows(rows, before, after);
  expect(rows.map((row) => found.get(row)?.[0])).toEqual([
    11, // a
    2, // b
    12, // c
    13, // d
    undefined, // a remark
    undefined, // a gap
    14, // e
    15, // f
  ]);
});

test("colours that have not come are missing, not wrong", () => {
  const rows = rowsOf(HUNKS);
  const found = coloursOfRows(rows, [], [[11], [12]]);
  expect(rows.map((row) => found.get(row)?.[0] ?? 0)).toEqual([11, 0, 12, 0, 0, 0, 0, 0]);
});
