import { expect, test } from "vitest";
import { mindReturning } from "./returning.ts";

class Screen extends EventTarget {
  visibilityState: "visible" | "hidden" = "visible";
}

function minded(): {
  window: EventTarget;
  screen: Screen;
  done: ("hurry" | "resync")[];
} {
  const done: ("hurry" | "resync")[] = [];
  const link = { hurry: () => done.push("hurry"), resync: () => done.push("resync") };
  const window = new EventTarget();
  const screen = new Screen();
  mindReturning(link, window, screen);
  return { window, screen, done };
}

test.each(["online", "pageshow", "focus"])("%s is reason to hurry", (name) => {
  const { window, done } = minded();
  window.dispatchEvent(new Event(name));
  expect(done).toEqual(["hurry"]);
});

test("a page that is shown hurries, and one that is hidden does not", () => {
  const { window, screen, done } = minded();
  screen.visibilityState = "hidden";
  screen.dispatchEvent(new Event("visibilitychange"));
  window.dispatchEvent(new Event("online"));
  expect(done).toEqual([]);
  screen.visibilityState = "visible";
  screen.dispatchEvent(new Event("visibilitychange"));
  expect(done).toEqual(["hurry"]);
});

test("without a network it starts over, whether or not anybody looks", () => {
  const { window, screen, done } = minded();
  screen.visibilityState = "hidden";
  window.dispatchEvent(new Event("offline"));
  expect(done).toEqual(["resync"]);
});
