import { expect, test } from "vitest";
import { labelOf, mcpName } from "./names.ts";

test.each([
  ["mcp__github__search_repositories", "GitHub > Search Repositories"],
  ["mcp__my-server__get_url", "My Server > Get URL"],
  ["Bash", "Run"],
  ["SomethingNew", "SomethingNew"],
  ["", "Tool"],
])("%s is called %s", (name, label) => {
  expect(labelOf(name)).toBe(label);
});

test("a server's name may have underscores of its own", () => {
  expect(mcpName("mcp__a_b__c__d")).toEqual({ server: "a_b", tool: "c__d" });
  expect(mcpName("mcp__a")).toBeUndefined();
});
