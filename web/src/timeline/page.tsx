import { type ReactNode, type RefObject, memo, useEffect, useRef, useState } from "react";
import type { SessionStore } from "../store/session.ts";
import { type Page, sameEntry } from "./entries.ts";
import { EntryView } from "./entry.tsx";
import style from "./timeline.module.css";

/** A page this near to what is seen is drawn. */
const MARGIN = "1800px 0px";

interface Props {
  readonly store: SessionStore;
  readonly page: Page;
  readonly always: boolean;
  readonly scroller: RefObject<HTMLDivElement | null>;
}

/** Some lines; far away from what is seen just a space of the height they had. */
export const TimelinePage = memo(
  function TimelinePage({ store, page, always, scroller }: Props): ReactNode {
    const box = useRef<HTMLDivElement>(null);
    const [height, setHeight] = useState(0);
    const drawn = always || height === 0;

    useEffect(() => {
      const element = box.current;
      if (element === null || always) return undefined;
      const near = new IntersectionObserver(
        (seen) => {
          const last = seen[seen.length - 1];
          if (last === undefined) return;
          setHeight(last.isIntersecting ? 0 : last.boundingClientRect.height);
        },
        { root: scroller.current, rootMargin: MARGIN },
      );
      near.observe(element);
      return () => near.disconnect();
    }, [always, scroller]);

    return (
      <div
        ref={box}
        className={style.page}
        style={drawn ? undefined : { height }}
        data-page={page.key}
      >
        {drawn &&
          page.entries.map((entry) => <EntryView key={entry.id} store={store} entry={entry} />)}
      </div>
    );
  },
  (a, b) => a.store === b.store && a.always === b.always && sameEntries(a.page, b.page),
);

function sameEntries(a: Page, b: Page): boolean {
  return (
    a.entries.length === b.entries.length &&
    a.entries.every((one, at) => {
      const other = b.entries[at];
      return other !== undefined && sameEntry(one, other);
    })
  );
}
