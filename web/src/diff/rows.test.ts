import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Hunk } from "./hunks.ts";
import { hunksBetween } from "./preview.ts";
import { pairsOf, rowsOf } from "./rows.ts";

const hunk = (oldStart: number, newStart: number, lines: readonly string[]): Hunk => ({
  oldStart,
  newStart,
  lines,
  oldLines: lines.filter((one) => !one.startsWith("+")).length,
  newLines: lines.filter((one) => !one.startsWith("-")).length,
});

test("lines have their numbers and their partners", () => {
  expect(rowsOf([hunk(4, 5, [" a", "-b", "-c", "+B", " d", "\\ No newline"])])).toEqual([
    { kind: "same", old: 4, new: 5, text: "a" },
    { kind: "removed", number: 5, text: "b", partner: "B" },
    { kind: "removed", number: 6, text: "c", partner: null },
    { kind: "added", number: 6, text: "B", partner: "b" },
    { kind: "same", old: 7, new: 7, text: "d" },
    { kind: "note", text: "No newline" },
  ]);
});

test("lines that were left out between hunks are counted", () => {
  const rows = rowsOf([hunk(1, 1, ["-a"]), hunk(10, 9, ["+b", " c"])]);
  expect(rows[1]).toEqual({ kind: "gap", skipped: 8 });
});

test("changes stand side by side", () => {
  const pairs = pairsOf(rowsOf([hunk(1, 1, ["-a", "-b", "+A", " c", "+d", "\\ x"])]));
  const shown = pairs.map((one) =>
    one.kind === "across"
      ? one.row.kind
      : [one.left, one.right]
          .map((row) => (row !== null && "text" in row ? row.text : ""))
          .join("|"),
  );
  expect(shown).toEqual(["a|A", "b|", "c|c", "|d", "note"]);
});

test("both texts can be read from the rows, in either form", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const rows = rowsOf(hunksBetween(before.join("\n"), after.join("\n")));
      const removed = rows.flatMap((one) => (one.kind === "removed" ? [one.text] : []));
      for (const one of rows) {
        if (one.kind === "removed") expect(before[one.number - 1]).toBe(one.text);
        if (one.kind === "added") expect(after[one.number - 1]).toBe(one.text);
      }
      const sides = pairsOf(rows).flatMap((one) => (one.kind === "sides" ? [one.left] : []));
      const lefts = sides.flatMap((one) => (one?.kind === "removed" ? [one.text] : []));
      expect(lefts).toEqual(removed);
    }),
  );
});

test("a11: nothing is unseen in a change that somebody decides about", () => {
  const lines = ["-a\u00a0b", "+const { admin,\u3164} = q;"];
  const hunks = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines }];
  const texts = rowsOf(hunks, true).map((row) => ("text" in row ? row.text : ""));
  expect(texts).toEqual(["a⟨U+00A0⟩b", "const { admin,⟨U+3164⟩} = q;"]);
});
