import * as fc from "fast-check";
import { expect, test } from "vitest";
import { FenceColours, runsOf } from "./fence.ts";

function sentBy(texts: readonly string[], ended: boolean): string[] {
  const sent: string[] = [];
  const fence = new FenceColours((lines) => sent.push(...lines));
  for (const text of texts) fence.update(text, false);
  if (ended) fence.update(texts.at(-1) ?? "", true);
  return sent;
}

test("a line is sent once, when it is finished", () => {
  expect(sentBy(["a", "a\nb", "a\nb\nc", "a\nb\nc"], false)).toEqual(["a", "b"]);
  expect(sentBy(["a", "a\nb"], true)).toEqual(["a", "b"]);
});

test("all lines of an ended text are sent, however it grew", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "\n", "bc\n", "\n\n")), (parts) => {
      const texts = parts.map((_, at) => parts.slice(0, at + 1).join(""));
      expect(sentBy(texts, true)).toEqual((texts.at(-1) ?? "").split("\n"));
    }),
  );
});

test("a text that is not more of the same is noticed", () => {
  const fence = new FenceColours(() => {});
  fence.update("a\nb", false);
  expect(fence.continues("a\nbc")).toBe(true);
  expect(fence.continues("x")).toBe(false);
  fence.update("a\nb", true);
  expect(fence.continues("a\nb")).toBe(true);
  expect(fence.continues("a\nbc")).toBe(false);
});

test("listeners hear of new colours until they leave", () => {
  const fence = new FenceColours(() => {});
  let heard = 0;
  const leave = fence.subscribe(() => (heard += 1));
  fence.receive([[1, 2]]);
  leave();
  fence.receive([[3, 4]]);
  expect(heard).toBe(1);
  expect(fence.lines).toEqual([
    [1, 2],
    [3, 4],
  ]);
});

test("a line falls into runs that are the line again", () => {
  expect(runsOf("if x:", [2, 2])).toEqual([
    { text: "if", kind: 2 },
    { text: " x:", kind: 0 },
  ]);
  expect(runsOf("plain", undefined)).toEqual([{ text: "plain", kind: 0 }]);
  fc.assert(
    fc.property(fc.string(), fc.array(fc.nat({ max: 9 })), (line, colours) => {
      const runs = runsOf(line, colours);
      expect(runs.map((one) => one.text).join("")).toBe(line);
    }),
  );
});
