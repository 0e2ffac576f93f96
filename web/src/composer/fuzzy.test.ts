import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ranked, score } from "./fuzzy.ts";

const order = (names: string[], letters: string): string[] => ranked(names, letters, (one) => one);

test("the name itself comes first, then what begins with it, then what has it inside", () => {
  expect(order(["my-cost", "costly", "cost", "accost"], "cost")).toEqual([
    "cost",
    "costly",
    "my-cost",
    "accost",
  ]);
});

test("letters that begin words are found", () => {
  expect(order(["security-review", "pr-comments", "review"], "pc")).toEqual(["pr-comments"]);
});

test("letters in another order are not meant", () => {
  expect(score("abc", "cb")).toBe(0);
});

test("without letters everything is meant, in its order", () => {
  expect(order(["b", "a"], "")).toEqual(["b", "a"]);
});

test("what a name is made of is always found in it", () => {
  const word = fc.string({ minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(word, fc.array(fc.boolean()), (name, kept) => {
      const letters = [...name.toLowerCase()].filter((_, at) => kept[at] === true).join("");
      expect(score(name, letters)).toBeGreaterThan(0);
    }),
  );
});
