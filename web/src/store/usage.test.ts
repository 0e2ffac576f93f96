import { expect, test } from "vitest";
import { categoriesOf, fillOf, levelOf, modelUseOf, shareOf } from "./usage.ts";

test("the gauge is what the agent last said, over what fits", () => {
  expect(fillOf({ context: { tokens: 50, window: 200 } })).toEqual({ tokens: 50, window: 200 });
  expect(shareOf({ tokens: 50, window: 200 })).toBe(0.25);
  expect(shareOf({ tokens: 50, window: 0 })).toBe(0);
});

test("after a compaction that tells no number it is not known", () => {
  expect(fillOf({ context: { tokens: null, window: 200 } })).toBeUndefined();
  expect(fillOf({})).toBeUndefined();
});

test.each([
  [0.79, "fine"],
  [0.8, "nearly"],
  [0.95, "full"],
])("%d of it is %s", (share, level) => {
  expect(levelOf(share)).toBe(level);
});

test("categories are what fills it, without what is free", () => {
  const report = {
    categories: [
      { name: "Messages", tokens: 5 },
      { name: "Free space", tokens: 90 },
      { name: "Nothing", tokens: 0 },
    ],
  };
  expect(categoriesOf(report)).toEqual([{ name: "Messages", tokens: 5 }]);
  expect(categoriesOf("nonsense")).toEqual([]);
});

test("each model has its own figures", () => {
  expect(modelUseOf({ m: { inputTokens: 1, cacheReadInputTokens: 2, costUSD: 0.5 } })).toEqual([
    { model: "m", input: 1, output: 0, cached: 2, costUsd: 0.5 },
  ]);
});
