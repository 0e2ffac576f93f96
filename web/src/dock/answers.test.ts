import { expect, test } from "vitest";
import type { Question } from "../store/items.ts";
import { answersOf, emptySheet, isWhole, picked, sheetOf, written } from "./answers.ts";

const options = ["A", "B", "C"].map((label) => ({ label, description: "" }));
const ONE: Question = { key: "", question: "Which?", header: "", multiSelect: false, options };
const MANY: Question = { key: "", question: "Who?", header: "", multiSelect: true, options };
const BOTH = [ONE, MANY];

test("one answer replaces the other, several stand in the order of their question", () => {
  let sheet = emptySheet(BOTH);
  sheet = picked(picked(sheet, 0, ONE, "A"), 0, ONE, "B");
  sheet = picked(picked(sheet, 1, MANY, "C"), 1, MANY, "A");
  expect(answersOf(BOTH, sheet)).toEqual({ "Which?": ["B"], "Who?": ["A", "C"] });
  expect(answersOf(BOTH, picked(sheet, 1, MANY, "C"))).toMatchObject({ "Who?": ["A"] });
});

test("words of one's own take the place of a single answer, and join several", () => {
  let sheet = picked(picked(emptySheet(BOTH), 0, ONE, "A"), 1, MANY, "B");
  sheet = written(written(sheet, 0, ONE, " mine "), 1, MANY, "also mine");
  expect(answersOf(BOTH, sheet)).toEqual({ "Which?": ["mine"], "Who?": ["B", "also mine"] });
});

test("it is whole once every question has an answer", () => {
  const sheet = picked(emptySheet(BOTH), 0, ONE, "A");
  expect(isWhole(sheet)).toBe(false);
  expect(isWhole(written(sheet, 1, MANY, "  "))).toBe(false);
  expect(isWhole(picked(sheet, 1, MANY, "B"))).toBe(true);
});

test("what was kept is there again", () => {
  const sheet = written(picked(emptySheet(BOTH), 1, MANY, "B"), 0, ONE, "mine");
  expect(sheetOf(JSON.parse(JSON.stringify(sheet)))).toEqual(sheet);
  expect(sheetOf("words")).toBeUndefined();
});
