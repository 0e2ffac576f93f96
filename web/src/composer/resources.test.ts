import { expect, test } from "vitest";
import type { Json } from "../store/items.ts";
import { emptyTool } from "../store/reduce-items.ts";
import { resourcesOf } from "./resources.ts";

const listed = (detail: Json | undefined, text = "") => ({
  ...emptyTool({ id: "t", parent: "", atMs: 0, seq: 1, past: false }, ""),
  name: "ListMcpResourcesTool",
  status: "ok" as const,
  detail,
  text,
});

const ISSUE = { server: "github", uri: "issue://123", name: "A bug" };

test("what the agent has listed can be named", () => {
  expect(resourcesOf([listed([ISSUE])])).toEqual([ISSUE]);
});

test("a list that is only there as text counts too, and each resource once", () => {
  expect(resourcesOf([listed(undefined, JSON.stringify([ISSUE])), listed([ISSUE])])).toEqual([
    ISSUE,
  ]);
});

test("what cannot be named in a message is left out", () => {
  expect(resourcesOf([listed([{ server: "a b", uri: "x://y" }, { uri: "x://y" }, null])])).toEqual(
    [],
  );
  expect(resourcesOf([listed("nonsense")])).toEqual([]);
});
