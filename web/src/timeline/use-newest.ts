import { useEffect, useState } from "react";
import type { Page } from "./entries.ts";

/** Pages that fill the screen: they are drawn before anything else. */
const FIRST = 2;
/** Pages that are drawn at once afterwards. */
const STEP = 2;

interface Newest {
  readonly shown: readonly Page[];
  /** All of them are drawn, so what came before them may be fetched. */
  readonly all: boolean;
}

/**
 * The newest pages at once, those before them right after they were painted.
 *
 * A session that is opened or gone back to is there as soon as its end is. Pages that come later,
 * at either end, are not held back any more. `settled`: what is here is not still coming in.
 */
export function useNewest(pages: readonly Page[], settled: boolean): Newest {
  const [chosen, setChosen] = useState<number>();
  const from = chosen ?? pages[Math.max(0, pages.length - FIRST)]?.key ?? 0;
  useEffect(() => {
    if (!settled || from === EVERY) return undefined;
    const timer = setTimeout(() => setChosen(next(pages, from)));
    return () => clearTimeout(timer);
  }, [pages, settled, from]);
  return {
    shown: from === EVERY ? pages : pages.filter((one) => one.key >= from),
    all: from === EVERY,
  };
}

const EVERY = Number.NEGATIVE_INFINITY;

/** The oldest page to be drawn after the one that is so now. */
export function next(pages: readonly Page[], from: number): number {
  const held = pages.filter((one) => one.key < from);
  return held[held.length - STEP]?.key ?? EVERY;
}
