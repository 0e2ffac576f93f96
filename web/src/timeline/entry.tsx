import { type ReactNode, memo, useMemo } from "react";
import { Disclosure } from "../parts/disclosure.tsx";
import { isOpened } from "../parts/opened.ts";
import { useItem } from "../parts/use-store.ts";
import type { ToolItem } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { ToolCard } from "../tools/tool-card.tsx";
import { GROUP } from "./anchor.ts";
import { type Entry, type Line, type Sort, groupTitle, sameEntry } from "./entries.ts";
import { Note } from "./note.tsx";
import { Plan } from "./plan.tsx";
import { ResultLine } from "./result-line.tsx";
import { Said } from "./said.tsx";
import { Thinking } from "./thinking.tsx";
import { UserMessage } from "./user-message.tsx";
import style from "./entry.module.css";

interface Props {
  readonly store: SessionStore;
  readonly entry: Entry;
}

/** One line of the transcript, whatever it is. */
export const EntryView = memo(
  function EntryView({ store, entry }: Props): ReactNode {
    return (
      <div
        className={style.entry}
        data-entry={entry.kind === "group" ? `${GROUP}${entry.id}` : entry.id}
        data-members={entry.kind === "group" ? entry.ids.join(" ") : undefined}
      >
        {entry.kind === "group" ? (
          <ToolGroup store={store} ids={entry.ids} sort={entry.sort} />
        ) : (
          <ItemView store={store} id={entry.id} told={entry.told} limit={entry.limit} />
        )}
      </div>
    );
  },
  (a, b) => a.store === b.store && sameEntry(a.entry, b.entry),
);

interface ItemProps extends Pick<Line, "told" | "limit"> {
  readonly store: SessionStore;
  readonly id: string;
}

export function ItemView({ store, id, told = false, limit = "" }: ItemProps): ReactNode {
  const item = useItem(store, id);
  switch (item?.kind) {
    case "user":
      return <UserMessage item={item} />;
    case "text":
      return <Said item={item} />;
    case "thinking":
      return <Thinking session={store.session} item={item} />;
    case "tool":
      return <ToolCard store={store} item={item} />;
    case "plan":
      return <Plan store={store} item={item} />;
    case "result":
      return <ResultLine item={item} told={told} />;
    case "note":
      return <Note store={store} item={item} limit={store.item(limit)} />;
    default:
      return null;
  }
}

/** Several tools of one sort in a row: one line, and each of them inside. */
function ToolGroup({
  store,
  ids,
  sort,
}: {
  readonly store: SessionStore;
  readonly ids: readonly string[];
  readonly sort: Sort;
}): ReactNode {
  const items = useMemo(
    () => ids.map((id) => store.item(id)).filter((one): one is ToolItem => one?.kind === "tool"),
    [store, ids],
  );
  // older lines that join it make another one the first: what was opened stays open
  const key = (id: string): string => `${store.session}:group:${id}`;
  const open = ids.some((id) => isOpened(key(id), false));
  return (
    <div className={style.group}>
      <Disclosure id={key(ids[0] ?? "")} title={groupTitle(sort, items)} open={open}>
        {ids.map((id) => (
          <div key={id} data-entry={id}>
            <ItemView store={store} id={id} />
          </div>
        ))}
      </Disclosure>
    </div>
  );
}
