import { expect, test } from "vitest";
import type { Item, Prompt } from "./items.ts";
import { Waits, callsAbove } from "./waits.ts";

const ITEMS = new Map(
  [
    ["outer", ""],
    ["inner", "outer"],
    ["bash", "inner"],
  ].map(([id = "", parent = ""]) => [id, { id, parent } as Item]),
);

function prompt(id: string, parent = ""): Prompt {
  return { id, parent, item: "" } as Prompt;
}

test("web_b17: time in which several prompts are open counts once", () => {
  const waits = new Waits(ITEMS);
  waits.begin(0);
  waits.opened(prompt("a"), 1000);
  waits.opened(prompt("b"), 2000);
  waits.closed("a", 3000);
  expect(waits.ofTurn(4000)).toBe(3000);
  waits.closed("b", 5000);
  expect(waits.ofTurn(9000)).toBe(4000);
  waits.begin(9000);
  expect(waits.ofTurn(10_000)).toBe(0);
});

test("web_b17: each sub-agent waits for its own prompts, and for those below it", () => {
  const waits = new Waits(ITEMS);
  waits.opened(prompt("a", "inner"), 1000);
  waits.opened(prompt("b", "outer"), 2000);
  expect(waits.closed("a", 3000)).toEqual(new Map([["inner", 2000]]));
  expect(waits.closed("b", 5000)).toEqual(new Map([["outer", 4000]]));
});

test("web_b17: a prompt that was open before a turn counts from its beginning", () => {
  const waits = new Waits(ITEMS);
  waits.opened(prompt("a"), 1000);
  waits.begin(5000);
  expect(waits.ofTurn(6000)).toBe(1000);
  waits.end(7000);
  expect(waits.ofTurn(9000)).toBe(2000);
});

test("where a prompt comes from is told by its call, or by the call it is about", () => {
  expect(callsAbove(ITEMS, { ...prompt("a"), item: "bash" })).toEqual(["inner", "outer"]);
  expect(callsAbove(ITEMS, prompt("a", "outer"))).toEqual(["outer"]);
  expect(callsAbove(ITEMS, prompt("a"))).toEqual([]);
  const loop = new Map([["x", { id: "x", parent: "x" } as Item]]);
  expect(callsAbove(loop, prompt("a", "x"))).toEqual(["x"]);
});
