import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Highlighter, type ToPage, type ToWorker } from "./highlight.ts";

class FakeWorker extends EventTarget {
  said: ToWorker[] = [];
  ended = false;
  postMessage(said: ToWorker): void {
    this.said.push(said);
  }
  terminate(): void {
    this.ended = true;
  }
  answer(said: ToPage): void {
    this.dispatchEvent(new MessageEvent("message", { data: said }));
  }
}

let workers: FakeWorker[];
let highlighter: Highlighter;

beforeEach(() => {
  vi.useFakeTimers();
  workers = [];
  highlighter = new Highlighter(() => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker;
  });
});
afterEach(() => {
  vi.useRealTimers();
});

test("no worker is started before there is code", () => {
  highlighter.open("python");
  expect(workers).toHaveLength(0);
});

test("finished lines go out and their colours come back", () => {
  const fence = highlighter.open("python");
  fence.update("a\nb", false);
  expect(workers[0]?.said).toEqual([
    { type: "lines", id: 0, language: "python", lines: ["a"], last: false },
  ]);
  workers[0]?.answer({ id: 0, colours: [[1, 2]] });
  expect(fence.lines).toEqual([[1, 2]]);
});

test("what was coloured once is not asked for again", () => {
  const first = highlighter.whole("python", "a");
  workers[0]?.answer({ id: 0, colours: [[1, 2]] });
  expect(highlighter.whole("python", "a")).toBe(first);
  expect(workers[0]?.said).toHaveLength(1);
});

test("a grown piece is remembered when it is over", () => {
  const fence = highlighter.open("python");
  fence.update("a\n", false);
  highlighter.keep("python", "a\nb", fence);
  expect(highlighter.whole("python", "a\nb")).toBe(fence);
  expect(workers[0]?.said).toHaveLength(2);
});

test("a finished piece gets its colours although nobody looks any more", () => {
  const fence = highlighter.whole("python", "a");
  highlighter.close(fence);
  workers[0]?.answer({ id: 0, colours: [[1, 2]] });
  expect(highlighter.whole("python", "a").lines).toEqual([[1, 2]]);
});

test("a growing piece that is closed is forgotten by the worker", () => {
  const fence = highlighter.open("python");
  fence.update("a\n", false);
  highlighter.close(fence);
  expect(workers[0]?.said.at(-1)).toEqual({ type: "forget", id: 0 });
});

test("colours of old pieces are forgotten", () => {
  const first = highlighter.whole("python", "a");
  for (let at = 0; at < 12; at += 1) highlighter.whole("python", `${at}${"x".repeat(200_000)}`);
  expect(highlighter.whole("python", "a")).not.toBe(first);
});

test("lines that could not be coloured leave the rest plain", () => {
  const fence = highlighter.open("python");
  fence.update("a\n", false);
  workers[0]?.answer({ id: 0, colours: null });
  fence.update("a\nb\n", false);
  workers[0]?.answer({ id: 0, colours: [[1, 2]] });
  expect(fence.lines).toEqual([]);
});

test("a worker that does not answer is ended, and only a few are started", () => {
  for (let turn = 0; turn < 6; turn += 1) {
    highlighter.whole("python", `${turn}`);
    vi.advanceTimersByTime(10_001);
  }
  expect(workers).toHaveLength(3);
  expect(workers.every((one) => one.ended)).toBe(true);
});

test("a worker that breaks leaves plain text", () => {
  const fence = highlighter.whole("python", "a");
  workers[0]?.dispatchEvent(new Event("error"));
  workers[0]?.answer({ id: 0, colours: [[1, 2]] });
  expect(fence.lines).toEqual([]);
});

test("a page that cannot start workers has plain text", () => {
  const without = new Highlighter(() => {
    throw new Error("no workers here");
  });
  expect(without.whole("python", "a").lines).toEqual([]);
});
