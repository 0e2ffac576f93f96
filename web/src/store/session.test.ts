import { expect, test } from "vitest";
import type { EventLine, SessionEvent } from "../protocol.gen.ts";
import { SessionStore } from "./session.ts";

const LOG: readonly SessionEvent[] = [
  { type: "item.started", item: "call", kind: "tool", name: "Task" },
  { type: "tool.started", item: "call", name: "Task", input: { description: "Look" } },
  { type: "item.started", item: "before", kind: "text" },
  { type: "text.done", item: "before", text: "meanwhile" },
  { type: "item.started", item: "inside", kind: "text", parent: "call" },
  { type: "text.done", item: "inside", text: "found it", parent: "call" },
  { type: "tool.result", item: "call", text: "it is here" },
];

function lines(from: number, to: number): EventLine[] {
  return LOG.map((event, at): EventLine => {
    return { type: "event", session: "s", epoch: 1, seq: at + 1, at_ms: at, event };
  }).slice(from - 1, to);
}

test("what a sub-agent did stays below its call when that call comes with an older page", () => {
  const store = new SessionStore("s", () => {});
  store.begin(1, LOG.length, 4, false);
  for (const one of lines(5, LOG.length)) store.event(one);
  expect(store.children("")).toEqual(["call"]);
  expect(store.children("call")).toEqual(["inside"]);
  const inside = store.item("inside");
  store.prepend(lines(1, 4));
  expect(store.children("")).toEqual(["call", "before"]);
  expect(store.children("call")).toEqual(["inside"]);
  expect(store.item("call")).toMatchObject({ name: "Task", status: "ok", seq: 1 });
  expect(store.item("inside")).toBe(inside); // as it was, so nothing draws it again
});
