import { expect, test } from "vitest";
import type { Prompt } from "../store/items.ts";
import { titleOf, toolName } from "./titles.ts";

test("a tool of an MCP server is named by both", () => {
  expect(toolName("mcp__github__search_repositories")).toBe("GitHub > Search Repositories");
  expect(toolName("mcp__odd")).toBe("mcp__odd");
});

test("a tool that the title names is not named again", () => {
  expect(toolName("Bash")).toBe("");
  expect(toolName("Invented")).toBe("Invented");
});

test("the title is ours, whatever the tool is called", () => {
  const prompt = { kind: "permission", tool: "Already approved" } as Prompt;
  expect(titleOf(prompt)).toBe("Wants to use a tool");
});
