/** The time, each second, while somebody needs it: one timer for all, none in a hidden tab. */
import { useSyncExternalStore } from "react";

const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  if (document.visibilityState === "hidden") return;
  now = Date.now();
  for (const one of [...listeners]) one();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now();
    timer = setInterval(tick, 1000);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

const never = (): (() => void) => () => undefined;

export function useSeconds(on: boolean): number {
  return useSyncExternalStore(on ? subscribe : never, () => (on ? now : 0));
}
