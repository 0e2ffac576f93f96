import { expect, test } from "vitest";
import { answersOf, emptySheet, picked } from "../dock/answers.ts";
import { questionsOf } from "./prompts.ts";

const OPTIONS = [{ label: "Home", description: "" }];

test("typed questions are read before what the agent wrote itself", () => {
  const questions = questionsOf("its own form", [
    { text: "Where to?", id: "q1", multi: true, options: [{ label: "Home" }] },
  ]);
  expect(questions).toEqual([
    { key: "q1", question: "Where to?", header: "", multiSelect: true, options: OPTIONS },
  ]);
  const [first] = questions;
  if (first === undefined) throw new Error("no question");
  // the answer is filed under the agent's own name of the question
  expect(answersOf(questions, picked(emptySheet(questions), 0, first, "Home"))).toEqual({
    q1: ["Home"],
  });
});

test("questions of an older log are read as they were written", () => {
  const written = [{ question: "Where to?", options: [{ label: "Home" }] }];
  expect(questionsOf(written)).toEqual([
    { key: "", question: "Where to?", header: "", multiSelect: false, options: OPTIONS },
  ]);
});
