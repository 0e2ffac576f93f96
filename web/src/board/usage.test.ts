import { expect, test } from "vitest";
import { lastDays, sum, usageOf } from "./usage.ts";

const usage = usageOf({
  total: { cost_usd: 3, turns: 4 },
  days: [
    { day: "2026-11-14", cost_usd: 1, turns: 1 },
    { day: "2026-11-16", cost_usd: 2, turns: 3 },
  ],
  agents: [{ agent: "claude", cost_usd: 3, turns: 4 }],
  complete: true,
});

test("days on which nothing was done are there, too", () => {
  const days = lastDays(usage, new Date(2026, 10, 16, 0, 30).getTime(), 3);
  expect(days.map((one) => [one.day, one.costUsd])).toEqual([
    ["2026-11-14", 1],
    ["2026-11-15", 0],
    ["2026-11-16", 2],
  ]);
  expect(sum(days)).toBe(3);
});

test("a month ends where it ends", () => {
  const days = lastDays(usage, new Date(2026, 2, 2, 12).getTime(), 3);
  expect(days.map((one) => one.day)).toEqual(["2026-02-28", "2026-03-01", "2026-03-02"]);
});

test("an answer that makes no sense is nothing", () => {
  expect(usageOf("what")).toEqual({ costUsd: 0, turns: 0, days: [], agents: [], complete: false });
});
