/** What the screen is like, as long as it is: width, pointer, preference. */
import { useCallback, useSyncExternalStore } from "react";

export const WIDE = "(min-width: 1200px)";
export const NARROW = "(max-width: 699.98px)";

export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
