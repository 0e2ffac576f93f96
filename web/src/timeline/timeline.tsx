import { ArrowDown } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { Button } from "../parts/button.tsx";
import { useApp, useChildren, useConnection, useKey, useSettings } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { entriesOf, pagesOf } from "./entries.ts";
import { TimelinePage } from "./page.tsx";
import style from "./timeline.module.css";
import { useFollow } from "./use-follow.ts";
import { useNewest } from "./use-newest.ts";
import { useOlder } from "./use-older.ts";
import { Live } from "./live.tsx";
import { Nested } from "./nested.tsx";
import { NestedContext } from "../tools/nested.ts";

/** Pages at the end that are always drawn: the running turn is never a spacer. */
const ALWAYS = 2;

/** What was said and done in a session, oldest first. */
export function Timeline({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const { follow } = useSettings();
  const ids = useChildren(store, "");
  const shape = useShape(store);
  const cleared = useKey(app.ui.emitter, `cleared:${store.session}`, () =>
    app.ui.clearedTo(store.session),
  );
  const synced = useKey(store.emitter, "synced", () => store.synced);
  const entries = useMemo(
    () => entriesOf(ids, (id) => store.item(id), cleared),
    // the shape is no value: it says when to look at the items again
    // oxlint-disable-next-line react/exhaustive-deps
    [store, ids, cleared, shape],
  );
  const pages = useMemo(() => pagesOf(entries), [entries]);
  const newest = entries[entries.length - 1]?.seq ?? 0;
  const { scroller, content, following, left, toEnd } = useFollow(newest, follow);
  const unseen = following ? 0 : entries.filter((one) => one.seq > left).length;
  const online = useConnection() === "online";
  const { shown, all } = useNewest(pages, synced || !online);
  const top = useOlder(store, scroller, all);
  return (
    <div className={style.timeline}>
      <div
        ref={scroller}
        className={style.scroller}
        role="log"
        aria-live="off"
        aria-label="Transcript"
        aria-busy={!synced}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, for the keyboard too
        tabIndex={0}
        data-following={following}
      >
        <div ref={content} className={style.content}>
          <div ref={top} />
          {cleared > 0 && (
            <Button look="quiet" onClick={() => app.ui.clear(store.session, 0)}>
              Show what was cleared
            </Button>
          )}
          {store.refused !== "" && <p className={style.empty}>{refusal(store.refused)}</p>}
          {synced && entries.length === 0 && store.refused === "" && (
            <p className={style.empty}>{beginning(store)}</p>
          )}
          <NestedContext value={nested}>
            {shown.map((page, at) => (
              <TimelinePage
                key={page.key}
                store={store}
                page={page}
                always={at >= shown.length - ALWAYS}
                scroller={scroller}
              />
            ))}
          </NestedContext>
          <Live store={store} />
        </div>
      </div>
      {!following && (
        <div className={style.pill}>
          <Button look="main" icon={<ArrowDown aria-hidden="true" />} onClick={toEnd}>
            {unseen > 0 ? `Latest, ${unseen} new` : "Latest"}
          </Button>
        </div>
      )}
    </div>
  );
}

const nested = (store: SessionStore, parent: string): ReactNode => (
  <Nested store={store} parent={parent} />
);

function useShape(store: SessionStore): number {
  return useKey(store.emitter, "shape:", () => store.shape);
}

/** How to begin; the demo agent tells by itself what it can show. */
function beginning(store: SessionStore): string {
  return store.view?.agent === "demo"
    ? "This is the demo agent: no model, no cost. Say hello, and it lists what it can show."
    : "Nothing was said yet. Write the first message below.";
}

function refusal(code: string): string {
  return code === "session_not_found"
    ? "There is no such session. It was deleted, or you may not see it."
    : `This session cannot be shown: ${code}.`;
}
