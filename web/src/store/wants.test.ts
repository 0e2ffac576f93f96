import { expect, test } from "vitest";
import { wants } from "./wants.ts";

test.each([
  ["Bash", "Wants to run a command"],
  ["ExitPlanMode", "Has a plan for you to review"],
  ["mcp__github__search_repositories", "Wants to use GitHub > Search Repositories"],
  ["constructor", "Wants to use constructor"],
  ["", "Wants to use a tool"],
])("%s: %s", (tool, words) => {
  expect(wants(tool)).toBe(words);
});

test.each([
  ["shell", "execute", "Wants to run a command"],
  ["route", "plan", "Has a plan for you to review"],
  ["patch", "edit", "Wants to change a file"],
  ["Write", "edit", "Wants to write a file"],
  ["Write", "execute", "Wants to run a command"],
  ["ExitPlanMode", "other", "Wants to use Plan"],
  ["brew", "other", "Wants to use brew"],
] as const)("%s of kind %s: %s", (tool, kind, words) => {
  expect(wants(tool, kind)).toBe(words);
});
