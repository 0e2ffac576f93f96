import { expect, test } from "vitest";
import { type Place, offersOf, sentence } from "./suggestions.ts";

const said = (one: unknown, place: Place = "session"): string[] =>
  offersOf([one as never]).map((offer) => sentence(offer, place));

test.each([
  [
    {
      type: "addRules",
      behavior: "allow",
      rules: [{ toolName: "Bash", ruleContent: "pytest:*" }],
      destination: "localSettings",
    },
    "Always allow Bash(pytest:*) in this session",
  ],
  [
    { type: "addRules", behavior: "allow", rules: [{ toolName: "mcp__demo__add" }] },
    "Always allow mcp__demo__add, whatever it does in this session",
  ],
  [
    { type: "addDirectories", directories: ["/project"], destination: "session" },
    "Always allow the folder /project in this session",
  ],
  [{ type: "setMode", mode: "acceptEdits" }, "Allow, and accept all edits in this session"],
  [{ type: "setMode", mode: "plan" }, "Allow, and switch to mode plan in this session"],
])("%j is said as what it stores", (one, words) => {
  expect(said(one)).toEqual([words]);
});

test("a rule is said with the place it is kept in, a mode holds in this session only", () => {
  const rule = { type: "addRules", behavior: "allow", rules: [{ toolName: "Read" }] };
  expect(said(rule, "project")[0]).toMatch(/in this project, for everybody$/);
  expect(said({ type: "setMode", mode: "acceptEdits" }, "user")[0]).toMatch(/in this session$/);
});

test("that nobody is asked any more is not offered, nor what nobody understands", () => {
  expect(said({ type: "setMode", mode: "bypassPermissions" })).toEqual([]);
  expect(said({ type: "inventedLater" })).toEqual([]);
  expect(said("words")).toEqual([]);
});

test("a suggestion keeps its number when one before it is not offered", () => {
  const offers = offersOf([
    { type: "setMode", mode: "bypassPermissions" },
    { type: "setMode", mode: "acceptEdits" },
  ]);
  expect(offers.map((one) => one.index)).toEqual([1]);
});

test("nothing hides in a rule", () => {
  const rules = [{ toolName: "Bash", ruleContent: "ls\u202e" }];
  expect(said({ type: "addRules", behavior: "allow", rules })[0]).toContain("⟨U+202E⟩");
});
