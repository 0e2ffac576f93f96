/** How a component looks at one thing: it is drawn again when that changed, and only then. */
import { createContext, useCallback, useContext, useSyncExternalStore } from "react";
import type { App } from "../store/app.ts";
import type { Emitter } from "../store/emitter.ts";
import type { Item } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";

export const AppContext = createContext<App | undefined>(undefined);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === undefined) throw new Error("outside of the app");
  return app;
}

/** `get` must give the same object until `key` changed. */
export function useKey<T>(emitter: Emitter, key: string, get: () => T): T {
  const subscribe = useCallback(
    (listener: () => void) => emitter.subscribe(key, listener),
    [emitter, key],
  );
  return useSyncExternalStore(subscribe, get);
}

export function useItem(store: SessionStore, id: string): Item | undefined {
  return useKey(store.emitter, `item:${id}`, () => store.item(id));
}

export function useChildren(store: SessionStore, parent: string): readonly string[] {
  return useKey(store.emitter, `children:${parent}`, () => store.children(parent));
}

export function usePrompts(store: SessionStore): SessionStore["transcript"]["prompts"] {
  return useKey(store.emitter, "prompts", () => store.transcript.prompts);
}

export function useView(store: SessionStore): SessionStore["view"] {
  return useKey(store.emitter, "view", () => store.view);
}

export function useSettings(): App["settings"]["now"] {
  const { settings } = useApp();
  return useKey(settings.emitter, "settings", () => settings.now);
}

export function useRows(): App["listing"]["rows"] {
  const { listing } = useApp();
  return useKey(listing.emitter, "rows", () => listing.rows);
}

export function useConnection(): App["connection"] {
  const app = useApp();
  return useKey(app.emitter, "connection", () => app.connection);
}
