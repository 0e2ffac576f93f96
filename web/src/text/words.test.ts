import * as fc from "fast-check";
import { expect, test } from "vitest";
import { wordDiff } from "./words.ts";

test("changed words are marked on both sides", () => {
  expect(wordDiff("return a + b;", "return a - b;")).toEqual({
    before: [
      { text: "return a ", changed: false },
      { text: "+", changed: true },
      { text: " b;", changed: false },
    ],
    after: [
      { text: "return a ", changed: false },
      { text: "-", changed: true },
      { text: " b;", changed: false },
    ],
  });
});

test("lines with little in common are not compared by words", () => {
  expect(wordDiff("import os", "def main(): pass")).toBeNull();
  expect(wordDiff("", "")).toBeNull();
  expect(wordDiff("a".repeat(2000), "a")).toBeNull();
});

test("the parts are the lines again", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const words = wordDiff(before, after);
      if (words === null) return;
      expect(words.before.map((one) => one.text).join("")).toBe(before);
      expect(words.after.map((one) => one.text).join("")).toBe(after);
    }),
  );
});
