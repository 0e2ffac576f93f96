/** Which question about a session stands in front of the page, asked from wherever it was. */
import { useSyncExternalStore } from "react";

export interface Act {
  readonly what: "rename" | "export" | "close" | "delete";
  readonly session: string;
}

const listeners = new Set<() => void>();
let current: Act | undefined;

export function act(next: Act | undefined): void {
  current = next;
  for (const one of [...listeners]) one();
}

export function useAct(): Act | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}
