/**
 * A moment in which nothing counts. A prompt that appears under a pointer or a finger that was meant
 * for something else must not be answered by it; nor one that is uncovered by a trick of another
 * window. So the first moment after it is there, or there again, is for looking.
 */
import { useCallback, useEffect, useRef, useState } from "react";

export const GUARD_MS = 700;

export interface Guard {
  /** For the looks of buttons. */
  readonly open: boolean;
  /** What decides: asked when something is pressed. */
  readonly counts: () => boolean;
}

/** Begins anew for each component that uses it: give it a key for each prompt. */
export function useGuard(): Guard {
  const since = useRef(Infinity);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = (): void => {
      clearTimeout(timer);
      since.current = performance.now();
      timer = setTimeout(() => setOpen(true), GUARD_MS);
    };
    const again = (): void => {
      if (document.visibilityState !== "visible") return;
      setOpen(false);
      begin();
    };
    begin();
    addEventListener("focus", again);
    document.addEventListener("visibilitychange", again);
    return () => {
      clearTimeout(timer);
      removeEventListener("focus", again);
      document.removeEventListener("visibilitychange", again);
    };
  }, []);
  const counts = useCallback(() => performance.now() - since.current >= GUARD_MS, []);
  return { open, counts };
}
