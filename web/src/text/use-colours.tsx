/** The colours of a piece of code, as they arrive. */

import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { LIVE_LIMIT } from "./blocks.ts";
import { CODE_LIMIT, type FenceColours, type LineColours } from "./fence.ts";
import { highlighter } from "./highlight.ts";
import type { Language } from "./languages.ts";

interface Held {
  readonly fence: FenceColours;
  readonly language: Language;
}

const NONE: readonly LineColours[] = [];

/** Colours line by line, as many as there are now. `open`: the last line may still grow. */
export function useColours(
  text: string,
  named: Language | null,
  open: boolean,
): readonly LineColours[] {
  const language = text.length > (open ? LIVE_LIMIT : CODE_LIMIT) ? null : named;
  const held = useRef<Held | null>(null);
  // Code that was coloured before has its colours from the first frame on.
  const [fence, setFence] = useState(() =>
    language === null || open ? null : highlighter.whole(language, text),
  );
  useEffect(() => {
    const next = language === null ? null : follow(held.current, language, text, open);
    if (held.current !== null && held.current !== next) highlighter.close(held.current.fence);
    held.current = next;
    setFence(next?.fence ?? null);
  }, [text, language, open]);
  useEffect(
    () => () => {
      if (held.current !== null) highlighter.close(held.current.fence);
      held.current = null;
    },
    [],
  );
  const subscribe = useCallback(
    (tell: () => void) => (fence === null ? () => {} : fence.subscribe(tell)),
    [fence],
  );
  const lines = useCallback(() => fence?.lines ?? NONE, [fence]);
  return useSyncExternalStore(subscribe, lines);
}

function follow(held: Held | null, language: Language, text: string, open: boolean): Held {
  const goesOn = held !== null && held.language === language && held.fence.continues(text);
  if (open) {
    const next = goesOn ? held : { fence: highlighter.open(language), language };
    next.fence.update(text, false);
    return next;
  }
  if (!goesOn) return { fence: highlighter.whole(language, text), language };
  highlighter.keep(language, text, held.fence);
  return held;
}
