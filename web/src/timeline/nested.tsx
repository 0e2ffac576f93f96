import { type ReactNode, useMemo } from "react";
import { useChildren, useKey } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { entriesOf } from "./entries.ts";
import { EntryView } from "./entry.tsx";

interface Props {
  readonly store: SessionStore;
  readonly parent: string;
}

/** The lines of a sub-agent, below the call that started it. */
export function Nested({ store, parent }: Props): ReactNode {
  const ids = useChildren(store, parent);
  const shape = useKey(store.emitter, `shape:${parent}`, () => store.shape);
  const entries = useMemo(
    () => entriesOf(ids, (id) => store.item(id)),
    // the shape is no value: it says when to look at the items again
    // oxlint-disable-next-line react/exhaustive-deps
    [store, ids, shape],
  );
  return entries.map((entry) => <EntryView key={entry.id} store={store} entry={entry} />);
}
