/** What a person has opened or folded: it stays so through updates, paging and lost connections. */
import { useCallback, useSyncExternalStore } from "react";

const MAX_KEPT = 2000;
const choices = new Map<string, boolean>();
/** Prefixes under which everything is open that nobody has folded since. */
const allOpen = new Set<string>();
const listeners = new Set<() => void>();

export function isOpened(key: string, otherwise: boolean): boolean {
  const chosen = choices.get(key);
  if (chosen !== undefined) return chosen;
  return otherwise || allOpen.has(key.slice(0, key.indexOf(":") + 1));
}

export function setOpened(key: string, open: boolean): void {
  choices.delete(key);
  choices.set(key, open);
  const oldest = choices.keys().next();
  if (choices.size > MAX_KEPT && !oldest.done) choices.delete(oldest.value);
  for (const listener of [...listeners]) listener();
}

/** Opens everything whose key begins so, or folds it, if the last time was opening. */
export function setAll(prefix: string): void {
  const open = !allOpen.has(prefix);
  if (open) allOpen.add(prefix);
  else allOpen.delete(prefix);
  for (const key of choices.keys()) if (key.startsWith(prefix)) choices.delete(key);
  for (const listener of [...listeners]) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** `key` names it for the life of the page, such as `${session}:${item}`. */
export function useOpened(key: string, otherwise: boolean): [boolean, (open: boolean) => void] {
  const open = useSyncExternalStore(subscribe, () => isOpened(key, otherwise));
  const set = useCallback((next: boolean) => setOpened(key, next), [key]);
  return [open, set];
}
