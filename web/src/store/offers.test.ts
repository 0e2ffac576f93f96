import { expect, test } from "vitest";
import { offersOf } from "./offers.ts";

const RULE = { label: "Always allow", scope: "session", durable: false, widens: false };

test.each([
  [RULE, false],
  [{ ...RULE, scope: "once" }, false],
  [{ ...RULE, scope: "project" }, true],
  [{ ...RULE, scope: "of a newer version" }, true],
  [{ ...RULE, durable: true }, true],
  [{ ...RULE, durable: undefined }, true],
  [{ ...RULE, widens: true }, true],
  [{ ...RULE, mode: "free" }, true],
  [{ ...RULE, decision: "deny", durable: true, scope: "user" }, false],
  [{ ...RULE, decision: "deny", widens: undefined }, true],
  [{ ...RULE, decision: "deny", mode: "free" }, true],
  [{ ...RULE, decision: "deny", durable: true, folders: ["/"] }, true],
  [{ ...RULE, decision: "deny", durable: true, allows: true }, true],
  [{}, true],
  ["words", true],
])("%j needs an administrator: %s", (offer, admin) => {
  expect(offersOf([offer]).map((one) => one.admin)).toEqual([admin]);
});

test("an offer is read with its rules and its number", () => {
  const rules = [{ tool: "Bash", pattern: "ls" }, { tool: "Read", pattern: null }, 7];
  expect(offersOf([{}, { ...RULE, rules, folders: ["/p", 7], placed: true }])[1]).toEqual({
    index: 1,
    label: "Always allow",
    scope: "session",
    rules: [
      { tool: "Bash", pattern: "ls" },
      { tool: "Read", pattern: undefined },
      { tool: "", pattern: undefined },
    ],
    folders: ["/p"],
    decision: "allow",
    placed: true,
    admin: false,
  });
});

test("what is no list has no offers", () => {
  expect(offersOf(undefined)).toEqual([]);
  expect(offersOf({})).toEqual([]);
});
