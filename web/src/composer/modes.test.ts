import { expect, test } from "vitest";
import { effortsInOrder, modeAbout, modeName, modesInOrder } from "./modes.ts";

test("modes stand from the most careful to the least, whatever the agent's order", () => {
  expect(modesInOrder(["odd", "acceptEdits", "bypassPermissions", "default", "plan"])).toEqual([
    "default",
    "plan",
    "acceptEdits",
    "bypassPermissions",
    "odd",
  ]);
});

test("a mode that nobody knows is called as the agent calls it", () => {
  expect([modeName("odd"), modeAbout("odd")]).toEqual(["odd", ""]);
  expect(modeName("default")).toBe("Ask first");
});

test("efforts stand from the least to the most", () => {
  expect(effortsInOrder(["high", "low", "max", "medium", "xhigh"])).toEqual([
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
  ]);
});
