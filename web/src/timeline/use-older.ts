import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";
import { useApp, useKey } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { type Anchor, anchorsIn, drift } from "./anchor.ts";

/** How far before the beginning older lines are fetched. */
const AHEAD = "1800px 0px 0px 0px";

/**
 * Fetches what came before when its place comes near, and keeps what is read where it is.
 * Nothing is fetched before all that is here is `drawn`: its place would be somewhere else.
 */
export function useOlder(
  store: SessionStore,
  scroller: RefObject<HTMLDivElement | null>,
  drawn = true,
): RefObject<HTMLDivElement | null> {
  const app = useApp();
  const mark = useRef<HTMLDivElement>(null);
  const anchors = useRef<readonly Anchor[]>([]);
  const first = useKey(store.emitter, "shape", () => store.first);

  useEffect(() => {
    if (mark.current === null || first <= 1 || !drawn) return undefined;
    const near = new IntersectionObserver(
      (seen) => {
        if (!seen.some((one) => one.isIntersecting)) return;
        // without an answer the next scroll asks again
        void app.following.older(store.session).catch(() => undefined);
      },
      { root: scroller.current, rootMargin: AHEAD },
    );
    near.observe(mark.current);
    return () => near.disconnect();
  }, [app, store, scroller, first, drawn]);

  useEffect(() => {
    // told of older lines before they are drawn: the last moment to see where things are
    return store.emitter.subscribe("shape", () => {
      if (store.first !== first && scroller.current !== null) {
        anchors.current = anchorsIn(scroller.current);
      }
    });
  }, [store, scroller, first]);

  useLayoutEffect(() => {
    const kept = anchors.current;
    anchors.current = [];
    const box = scroller.current;
    if (box === null || kept.length === 0) return;
    // the browser keeps it in place by itself, but not at the very top
    const moved = drift(box, kept, (id) => store.item(id)?.parent ?? "");
    if (moved !== 0) box.scrollBy(0, moved);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- with older lines, and only then
  }, [store, scroller, first]);

  return mark;
}
