import { useCallback } from "react";
import { useMedia } from "../parts/use-media.ts";
import type { SessionStore } from "../store/session.ts";
import { talkOf } from "./talk.ts";

/**
 * Where the focus goes when what had it is gone: to the draft. Not on touch, where that would open the
 * keyboard.
 */
export function useBack(store: SessionStore): () => void {
  const touch = useMedia("(pointer: coarse)");
  return useCallback(() => {
    if (!touch) talkOf(store).composer?.focus();
  }, [store, touch]);
}
