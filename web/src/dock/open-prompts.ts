/** What waits for an answer in a session, the oldest first. */
import { useEffect, useMemo } from "react";
import { useApp, useConnection, useKey, usePrompts, useView } from "../parts/use-store.ts";
import type { SessionView } from "../protocol.gen.ts";
import type { Prompt } from "../store/items.ts";
import { waitingOf } from "../store/prompts.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, listOf } from "../store/values.ts";

/** Prompts of the log, and those from before it that are still open. */
export function openPrompts(
  known: readonly Prompt[],
  earlier: readonly Prompt[],
  view: SessionView | undefined,
): readonly Prompt[] {
  const ids = new Set(known.map((one) => one.id));
  const open = new Set(view?.prompts.map((one) => one.prompt) ?? []);
  const old = earlier.filter((one) => !ids.has(one.id) && open.has(one.id));
  return [...old, ...known].toSorted((a, b) => a.sinceMs - b.sinceMs);
}

export function useOpenPrompts(store: SessionStore): readonly Prompt[] {
  const known = usePrompts(store);
  const earlier = useKey(store.emitter, "prompts", () => store.earlier);
  const view = useView(store);
  return useMemo(() => openPrompts(known, earlier, view), [known, earlier, view]);
}

/** Whether the gateway knows of a prompt that nobody has shown us yet. */
export function hasUnseen(
  view: SessionView | undefined,
  known: readonly Prompt[],
  earlier: readonly Prompt[],
): boolean {
  const ids = new Set([...known, ...earlier].map((one) => one.id));
  return view?.prompts.some((one) => !ids.has(one.prompt)) ?? false;
}

/** Ask for what is open and older than the part of the log that is here. */
export function useEarlierPrompts(store: SessionStore): void {
  const app = useApp();
  const online = useConnection() === "online";
  const synced = useKey(store.emitter, "synced", () => store.synced);
  const view = useView(store);
  const known = usePrompts(store);
  const missing = online && synced && hasUnseen(view, known, store.earlier);
  useEffect(() => {
    if (!missing) return;
    app.panel(store.session, "prompts").then(
      (value) => {
        const found = listOf(fieldsOf(value)["prompts"]).map(waitingOf);
        store.askedEarlier(found.flatMap((one) => (one === undefined ? [] : [one.prompt])));
      },
      () => {}, // it is asked again when the view changes
    );
  }, [app, store, missing]);
}
