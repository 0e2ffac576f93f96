import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Escape, type Situation, escapeDoes } from "./escape.ts";

const QUIET: Situation = {
  menu: "none",
  inPrompt: false,
  inDraft: false,
  promptOpen: false,
  running: false,
};

const TABLE: readonly [string, Partial<Situation>, Escape][] = [
  ["nothing is going on", {}, "nothing"],
  ["a turn runs", { running: true }, "interrupt"],
  ["a prompt waits", { promptOpen: true, running: true }, "to-prompt"],
  ["the focus is in the prompt", { promptOpen: true, inPrompt: true, running: true }, "deny"],
  ["a draft is written", { inDraft: true, running: true }, "clear"],
  ["a draft is written while a prompt waits", { inDraft: true, promptOpen: true }, "clear"],
  ["suggestions are open", { menu: "ours", inDraft: true, running: true }, "close"],
  [
    "a form of the prompt is open",
    { menu: "ours", inPrompt: true, promptOpen: true, running: true },
    "close",
  ],
  ["a palette is open", { menu: "other", promptOpen: true, running: true }, "leave"],
  ["the focus stayed in a dock without a prompt", { inPrompt: true, running: true }, "interrupt"],
];

test.each(TABLE)("%s", (_, now, does) => {
  expect(escapeDoes({ ...QUIET, ...now })).toBe(does);
});

test("a prompt is never denied from outside of it", () => {
  const any = fc.record({
    menu: fc.constantFrom<Situation["menu"]>("none", "ours", "other"),
    inDraft: fc.boolean(),
    promptOpen: fc.boolean(),
    running: fc.boolean(),
  });
  fc.assert(
    fc.property(any, (now) => {
      expect(escapeDoes({ ...now, inPrompt: false })).not.toBe("deny");
    }),
  );
});
