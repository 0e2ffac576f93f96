import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SessionStore } from "../store/session.ts";
import { TimelinePage } from "./page.tsx";

let tell: (near: boolean, height: number) => void = () => {};

beforeEach(() => {
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(seen: (all: object[]) => void) {
        tell = (isIntersecting, height) =>
          seen([{ isIntersecting, boundingClientRect: { height } }]);
      }
      observe(): void {}
      disconnect(): void {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

function page(always: boolean): void {
  const store = new SessionStore("s", () => {});
  const entries = [{ kind: "item", id: "a", seq: 1 } as const];
  render(
    <div data-testid="box">
      <TimelinePage
        store={store}
        page={{ key: 0, entries }}
        always={always}
        scroller={{ current: null }}
      />
    </div>,
  );
}

const drawn = (): number => screen.getByTestId("box").querySelectorAll("[data-entry]").length;

test("a page far away is a space of the height it had, and comes back when it is near", () => {
  page(false);
  expect(drawn()).toBe(1);
  act(() => tell(false, 321));
  expect(drawn()).toBe(0);
  const space = screen.getByTestId("box").querySelector<HTMLElement>("[data-page]");
  expect(space?.style.height).toBe("321px");
  act(() => tell(true, 321));
  expect([drawn(), space?.style.height]).toEqual([1, ""]);
});

test("the newest pages are always drawn", () => {
  tell = () => {};
  page(true);
  act(() => tell(false, 321));
  expect(drawn()).toBe(1);
});
