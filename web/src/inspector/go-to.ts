/** Brings a line of the transcript into sight, also one that is far away and not drawn now. */
import type { Item } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { pageKey } from "../timeline/entries.ts";

const TRIES = 30; // frames until what came near is drawn

export function goTo(store: SessionStore, id: string): void {
  const item = outermost(store, id);
  if (item === undefined) return;
  const found = (): Element | null =>
    document.querySelector(`[data-entry="${CSS.escape(item.id)}"]`);
  if (found() === null) {
    document.querySelector(`[data-page="${pageKey(item.seq)}"]`)?.scrollIntoView();
  }
  const look = (tries: number): void => {
    const line = found();
    if (line !== null) {
      line.scrollIntoView({ block: "center" });
      line.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    } else if (tries > 0) {
      requestAnimationFrame(() => look(tries - 1));
    }
  };
  look(TRIES);
}

/** What a sub-agent did stands below the call that started it. */
function outermost(store: SessionStore, id: string): Item | undefined {
  let item = store.item(id);
  for (let depth = 0; item !== undefined && item.parent !== "" && depth < 10; depth += 1) {
    item = store.item(item.parent) ?? item;
  }
  return item;
}
