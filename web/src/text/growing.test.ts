import { expect, test } from "vitest";
import { parse } from "./blocks.ts";
import { GrowingText } from "./growing.ts";

test("a text that grows keeps its finished blocks", () => {
  const text = new GrowingText();
  const before = text.show("one\n\ntwo", true).flat();
  const after = text.show("one\n\ntwo\n\nthree", true).flat();
  const frozen = text.show("one\n\ntwo\n\nthree\n\nfour", true).flat();
  expect(after[0]).toBe(text.show("one\n\ntwo\n\nthree\n\nfour", false).flat()[0]);
  expect(before[0]?.key).toBe(after[0]?.key);
  expect(frozen[1]?.node).toEqual(after[1]?.node);
});

test("a text that ends, changes or starts again is read right", () => {
  const text = new GrowingText();
  const steps: readonly (readonly [string, boolean])[] = [
    ["**a", true],
    ["**a** b", true],
    ["**a** b", false],
    ["**a** b", false],
    ["other", false],
    ["other", true],
    ["other words", true],
    ["", false],
    ["last", false],
  ];
  for (const [said, live] of steps) {
    const shown = text.show(said, live).flat();
    if (!live) expect(shown).toEqual(parse(said));
    else expect(shown.length).toBe(said === "" ? 0 : 1);
  }
});
