import { expect, test } from "vitest";
import { BUDGET_MS, Frames, HIDDEN_MS } from "./frames.ts";

/** A clock that is turned by hand: frames and timers come when they are told to. */
function clock(visible = true) {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  let asked: (() => void)[] = [];
  return {
    visible: () => visible,
    nowMs: () => now,
    frame: (run: () => void) => {
      asked.push(run);
    },
    later: (run: () => void, ms: number) => {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    /** A frame comes, and what is drawn in it takes so long. */
    draw(tookMs = 0) {
      const these = asked;
      asked = [];
      for (const one of these) one();
      this.pass(tookMs);
    },
    pass(ms: number) {
      now += ms;
      const due = timers.filter((one) => one.at <= now);
      timers = timers.filter((one) => one.at > now);
      for (const one of due) one.run();
    },
    get waiting() {
      return timers.length;
    },
  };
}

/** How often it is shown in so many frames, if there is something new in each of them. */
function shown(frames: Frames, time: ReturnType<typeof clock>, count: number, tookMs: number) {
  let found = 0;
  let asked = false;
  for (let frame = 0; frame < count; frame += 1) {
    if (!asked) {
      asked = true;
      frames.schedule(() => {
        asked = false;
        found += 1;
      });
    }
    time.draw(tookMs);
  }
  return found;
}

test("everybody is called in one frame, once", () => {
  const time = clock();
  const frames = new Frames(time);
  const called: string[] = [];
  frames.schedule(() => called.push("a"));
  frames.schedule(() => called.push("b"));
  time.draw();
  time.draw();
  time.pass(HIDDEN_MS);
  expect(called).toEqual(["a", "b"]);
});

test("what is cheap is shown in every frame", () => {
  const time = clock();
  expect(shown(new Frames(time), time, 10, BUDGET_MS)).toBe(10);
});

test("what costs more than its share is shown in every second frame, until it is cheap again", () => {
  const time = clock();
  const frames = new Frames(time);
  expect(shown(frames, time, 11, BUDGET_MS + 1)).toBe(6);
  expect(shown(frames, time, 11, 1)).toBe(10);
});

test("a wait for a timer after a key is nothing that showing took", () => {
  const time = clock();
  const frames = new Frames(time);
  const typed = (): number => {
    let found = 0;
    frames.schedule(() => (found += 1));
    time.draw();
    frames.painted(); // the key comes right after the paint
    time.pass(2 * BUDGET_MS); // and the timer only then
    return found;
  };
  expect([typed(), typed(), typed()]).toEqual([1, 1, 1]);
});

test("a tab that nobody sees is told by a timer", () => {
  const time = clock(false);
  const frames = new Frames(time);
  let called = 0;
  frames.schedule(() => (called += 1));
  time.draw();
  expect(called).toBe(0);
  time.pass(HIDDEN_MS);
  expect(called).toBe(1);
});

test("a frame that never comes is not waited for, and one that comes takes its timer along", () => {
  const time = clock();
  const frames = new Frames(time);
  let called = 0;
  frames.schedule(() => (called += 1));
  time.pass(HIDDEN_MS);
  expect(called).toBe(1);
  time.draw();
  expect(called).toBe(1);
  frames.schedule(() => (called += 1));
  time.draw();
  time.pass(0);
  expect([called, time.waiting]).toEqual([2, 0]);
});

test("a tab that is shown again shows what is new at once", () => {
  const time = clock(false);
  const frames = new Frames(time);
  let found = 0;
  frames.schedule(() => (found += 1));
  frames.shown();
  expect(found).toBe(1);
  time.pass(HIDDEN_MS); // the slow timer comes, too
  frames.shown();
  expect(found).toBe(1);
});
