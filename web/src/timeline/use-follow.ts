import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { type Anchor, anchorIn, drift } from "./anchor.ts";
import { type Place, follows, movedUp } from "./follow.ts";

interface Followed {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly following: boolean;
  /** The newest line when the reader left the end. */
  readonly left: number;
  readonly toEnd: () => void;
}

/** `top`: a new answer stays where it begins, and the reader scrolls. */
export function useFollow(newest: number, where: "bottom" | "top"): Followed {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const [left, setLeft] = useState(newest);
  const seen = useRef(newest);
  const now = useRef({ following: true, place: { top: 0, height: 0, view: 0 } as Place });
  // what is read, while that is not the end
  const read = useRef<Anchor | undefined>(undefined);

  const become = useCallback((next: boolean) => {
    now.current.following = next;
    setFollowing(next);
    if (!next) setLeft(seen.current);
  }, []);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (box === null) return;
    box.scrollTop = box.scrollHeight;
    become(true);
  }, [become]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) return undefined;
    const scrolled = (): void => {
      const place = placeOf(box);
      const next = follows(now.current.following, now.current.place, place);
      now.current.place = place;
      read.current = next ? undefined : anchorIn(box);
      if (next !== now.current.following) become(next);
    };
    const grown = new ResizeObserver(() => {
      // the reader may have scrolled in this very frame, and is not to be pulled back
      if (now.current.following && movedUp(now.current.place, placeOf(box))) become(false);
      if (now.current.following && where === "bottom") box.scrollTop = box.scrollHeight;
      // most browsers have moved along by themselves; those that have not are helped
      if (!now.current.following && box.scrollTop === now.current.place.top)
        hold(box, read.current);
      now.current.place = placeOf(box);
      read.current = now.current.following ? undefined : anchorIn(box);
    });
    box.addEventListener("scroll", scrolled, { passive: true });
    grown.observe(inner);
    grown.observe(box);
    return () => {
      box.removeEventListener("scroll", scrolled);
      grown.disconnect();
    };
  }, [become, where]);

  useEffect(() => {
    seen.current = newest;
  }, [newest]);

  return { scroller, content, following, left, toEnd };
}

/** What grew or shrank above what is read does not move it. */
function hold(box: HTMLElement, read: Anchor | undefined): void {
  if (read === undefined || !read.element.isConnected) return;
  const moved = drift(box, [read], () => "");
  if (Math.abs(moved) >= 1) box.scrollTop += moved;
}

function placeOf(box: HTMLElement): Place {
  return { top: box.scrollTop, height: box.scrollHeight, view: box.clientHeight };
}
