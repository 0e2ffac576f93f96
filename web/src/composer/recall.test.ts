import { expect, test } from "vitest";
import { Recall, textIn } from "./recall.ts";

const all = (): string[] => ["newest", "older"];

test("the arrow goes back through what was said, and forward to nothing", () => {
  const recall = new Recall();
  expect(recall.older(all)).toBe("newest");
  expect(recall.shows("newest")).toBe(true);
  expect(recall.older(all)).toBe("older");
  expect(recall.older(all)).toBeUndefined();
  expect(recall.newer()).toBe("newest");
  expect(recall.newer()).toBe("");
  expect(recall.newer()).toBeUndefined();
});

test("what was changed is not what was brought back", () => {
  const recall = new Recall();
  recall.older(() => ["one"]);
  expect(recall.shows("one more")).toBe(false);
  recall.leave();
  expect(recall.shows("one")).toBe(false);
});

test("only the words of a message come back", () => {
  expect(
    textIn([
      { type: "text", text: "look" },
      { type: "image", media_type: "image/png", data: "AA==" },
      { type: "text", text: "here" },
    ]),
  ).toBe("look\nhere");
});
