import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ANSWER_MS, ASLEEP_MS, QUIET_MS, WAKE_MS, Watch } from "./watch.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function begun(unsent: () => number = () => 0): {
  watch: Watch;
  pings: () => number;
  dead: () => boolean;
} {
  let pings = 0;
  let dead = false;
  const watch: Watch = new Watch({
    ping: () => (pings += 1),
    unsent,
    lost: () => {
      dead = true;
      watch.end();
    },
  });
  watch.begin();
  return { watch, pings: () => pings, dead: () => dead };
}

const pass = (ms: number): void => void vi.advanceTimersByTime(ms);

/** The machine stands still: its clock goes on, and no timer runs. */
function sleep(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

test("a gateway that talks is not asked anything", () => {
  const { watch, pings, dead } = begun();
  for (let at = 0; at < 20; at += 1) {
    pass(QUIET_MS / 2);
    watch.heard();
  }
  expect([pings(), dead()]).toEqual([0, false]);
});

test("a quiet one is asked for a sign of life, and given up without one", () => {
  const { pings, dead } = begun();
  pass(QUIET_MS + 1);
  expect([pings(), dead()]).toEqual([1, false]);
  pass(ANSWER_MS - 100);
  expect(dead()).toBe(false);
  pass(200);
  expect([pings(), dead()]).toEqual([1, true]);
});

test("any word is a sign of life", () => {
  const { watch, pings, dead } = begun();
  for (let round = 1; round <= 3; round += 1) {
    pass(QUIET_MS + 1000);
    expect(pings()).toBe(round);
    watch.heard();
  }
  pass(ANSWER_MS);
  expect(dead()).toBe(false);
});

test("who wants something learns soon that nobody is there", () => {
  const { watch, pings, dead } = begun();
  watch.wanted();
  expect(pings()).toBe(0); // it spoke just now
  pass(1000);
  watch.wanted();
  watch.wanted();
  expect(pings()).toBe(1);
  pass(ANSWER_MS + 1);
  expect(dead()).toBe(true);
});

test("somebody who comes back waits less than a second", () => {
  const { watch, dead } = begun();
  pass(QUIET_MS + 1000); // it was asked already, without hurry
  watch.woke();
  pass(WAKE_MS + 1);
  expect(dead()).toBe(true);
});

test("a page that slept does not wait at all", () => {
  const { watch, pings, dead } = begun();
  sleep(ASLEEP_MS);
  watch.woke();
  expect([pings(), dead()]).toEqual([0, true]);
});

test("a machine that slept is noticed by its clock, with nobody coming back to the page", () => {
  const { dead } = begun();
  sleep(60 * 60_000);
  pass(2001);
  expect(dead()).toBe(true);
});

test("a long message that leaves slowly is no dead line", () => {
  let left = 500_000;
  const { watch, dead } = begun(() => left);
  pass(1000);
  watch.wanted();
  for (let round = 0; round < 5; round += 1) {
    left -= 50_000;
    pass(ANSWER_MS);
  }
  expect(dead()).toBe(false);
  pass(2 * ANSWER_MS); // nothing moves any more
  expect(dead()).toBe(true);
});

test("a long message that has left may be on its way for long", () => {
  const { watch, dead } = begun();
  pass(1000);
  watch.said(800_000);
  watch.wanted();
  pass(ANSWER_MS + 30_000);
  expect(dead()).toBe(false);
  pass(12_000);
  expect(dead()).toBe(true);
});

test("that the question itself has left says nothing", () => {
  let left = 60;
  const { watch, dead } = begun(() => left);
  watch.woke();
  left = 0;
  pass(WAKE_MS + 1);
  expect(dead()).toBe(true);
});

test("a clock that is set back does not make it deaf", () => {
  const { pings, dead } = begun();
  sleep(-60 * 60_000);
  pass(QUIET_MS + 4000);
  expect(pings()).toBe(1);
  pass(ANSWER_MS);
  expect(dead()).toBe(true);
});

test("what has ended is not watched", () => {
  const { watch, pings, dead } = begun();
  watch.end();
  watch.wanted();
  watch.woke();
  pass(60_000);
  expect([pings(), dead()]).toEqual([0, false]);
});
