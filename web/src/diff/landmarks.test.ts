import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { patchText } from "./hunks.ts";
import { hunksAround } from "./landmarks.ts";

const few = fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f", "g"), { maxLength: 40 });

function changed(lines: readonly string[]): number {
  return lines.filter((one) => !one.startsWith(" ")).length;
}

test("what is found makes the one text of the other", () => {
  fc.assert(
    fc.property(few, few, (before, after) => {
      const hunks = hunksAround(before, after);
      if (hunks.length === 0) {
        expect(after).toEqual(before);
        return;
      }
      const ended = (lines: readonly string[]): string => lines.map((one) => `${one}\n`).join("");
      expect(applyPatch(ended(before), patchText("x", hunks))).toBe(ended(after));
    }),
  );
});

test("every second line of a long text is a change of that line", () => {
  const before = Array.from({ length: 10_000 }, (_, at) => `value_${at} = ${at}`);
  const after = before.map((one, at) => (at % 2 === 1 ? `${one}0` : one));
  const hunks = hunksAround(before, after);
  expect(hunks).toHaveLength(1);
  expect(changed(hunks[0]?.lines ?? [])).toBe(10_000);
});

test("a change far from another one is a hunk of its own, with what stands around it", () => {
  const before = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  const after = before.map((one, at) => (at === 10 || at === 80 ? "new" : one));
  const hunks = hunksAround(before, after);
  expect(hunks.map((one) => [one.oldStart, one.oldLines, one.newStart, one.newLines])).toEqual([
    [8, 7, 8, 7],
    [78, 7, 78, 7],
  ]);
});

test("texts with nothing in common do not take long", () => {
  const before = Array.from({ length: 50_000 }, (_, at) => `a ${at}`);
  const after = Array.from({ length: 50_000 }, (_, at) => `b ${at}`);
  expect(hunksAround(before, after)[0]?.lines).toHaveLength(100_000);
});
