import { renderHook, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import type { Page } from "./entries.ts";
import { next, useNewest } from "./use-newest.ts";

function pages(from: number, to: number): readonly Page[] {
  return Array.from({ length: to - from + 1 }, (_, at) => ({ key: from + at, entries: [] }));
}

const keys = (all: readonly Page[]): readonly number[] => all.map((one) => one.key);

test("the newest pages are drawn first, all of them soon after", async () => {
  const seven = pages(1, 7);
  const { result } = renderHook(() => useNewest(seven, true));
  expect([keys(result.current.shown), result.current.all]).toEqual([[6, 7], false]);
  await waitFor(() => expect(result.current.all).toBe(true));
  expect(keys(result.current.shown)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test("while lines still come in, only the newest pages are drawn", () => {
  const { result, rerender } = renderHook(({ all }) => useNewest(all, false), {
    initialProps: { all: pages(1, 3) },
  });
  rerender({ all: pages(1, 6) });
  expect(keys(result.current.shown)).toEqual([5, 6]);
});

test("pages that come later are drawn at once, at either end", async () => {
  const { result, rerender } = renderHook(({ all }) => useNewest(all, true), {
    initialProps: { all: pages(5, 7) },
  });
  await waitFor(() => expect(result.current.all).toBe(true));
  rerender({ all: pages(2, 8) });
  expect(keys(result.current.shown)).toEqual([2, 3, 4, 5, 6, 7, 8]);
});

test("each step goes back by two pages, the last one by all", () => {
  expect(next(pages(1, 7), 6)).toBe(4);
  expect(next(pages(1, 7), 2)).toBe(Number.NEGATIVE_INFINITY);
});
