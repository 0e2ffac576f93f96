import { expect, test } from "vitest";
import { rowsOf } from "./rows.ts";
import { sidesOf } from "./sides.ts";
import { rowsIn, sidesIn, workOut } from "./worked-out.ts";

const HUNKS = [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [" a", "-b", "+c"] }];

test("what was worked out before is the same, and is not worked out again", () => {
  const hunks = [...HUNKS];
  expect(rowsIn(hunks, true)).not.toBe(rowsIn(hunks, true));
  expect([...workOut(hunks)]).toHaveLength(1); // steps, but for the last one
  const rows = rowsIn(hunks, true);
  expect(rowsIn(hunks, true)).toBe(rows);
  expect(rowsIn(hunks, false)).not.toBe(rows);
  expect(rows).toEqual(rowsOf(HUNKS));
  expect(sidesIn(hunks, rows)).toBe(sidesIn(hunks, rows));
  expect(sidesIn(hunks, rows)).toEqual(sidesOf(rows));
});
