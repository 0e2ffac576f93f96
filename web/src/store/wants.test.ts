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
