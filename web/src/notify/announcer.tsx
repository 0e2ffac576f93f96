import { type ReactNode, useEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { topmost } from "../parts/topmost.ts";
import { useApp, useRows } from "../parts/use-store.ts";
import { useRoute } from "../routes.ts";
import type { Row } from "../store/rows.ts";
import { onSay, say } from "./say.ts";
import { boundary } from "./boundaries.ts";

/** A text stays this long, so that whoever comes to the region by hand does not read old news. */
const STAYS_MS = 8000;

/** The two regions that are read out, and what is said there by itself. */
export function Announcer({ view }: { readonly view: string }): ReactNode {
  const polite = useRef<HTMLDivElement>(null);
  const assertive = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const timers = new Map<HTMLElement, ReturnType<typeof setTimeout>>();
    const stop = onSay((text, urgency) => {
      const region = (urgency === "polite" ? polite : assertive).current;
      if (region === null) return;
      // the same words again are news again only if they were gone in between
      region.textContent = region.textContent === text ? `${text} ` : text;
      clearTimeout(timers.get(region));
      timers.set(
        region,
        setTimeout(() => (region.textContent = ""), STAYS_MS),
      );
    });
    return () => {
      stop();
      for (const one of timers.values()) clearTimeout(one);
    };
  }, []);
  useBoundaries();
  useView(view);
  const [place] = useState(topmost); // behind an open dialog nothing is read out
  return createPortal(
    <>
      <div ref={polite} className="said" role="status" aria-live="polite" />
      <div ref={assertive} className="said" role="alert" aria-live="assertive" />
    </>,
    place,
  );
}

/** Another view is another page to whoever does not see it: its name is said. */
function useView(name: string): void {
  const { view, ...at } = useRoute();
  const here = `${view} ${Object.values(at).join()}`;
  const shown = useRef(here);
  useEffect(() => {
    if (shown.current !== here) say(name);
    shown.current = here;
  }, [here, name]);
}

function useBoundaries(): void {
  const rows = useRows();
  const app = useApp();
  const route = useRoute();
  const before = useRef<ReadonlyMap<string, Row>>(new Map());
  const heard = useRef(false);
  const here = route.view === "session" ? route.session : "";
  useEffect(() => {
    const known = before.current;
    before.current = new Map(rows.map((one) => [one.session, one]));
    const first = !heard.current;
    heard.current ||= app.listing.loaded;
    if (first) return; // what was so before the page is no news
    for (const row of rows) {
      const told = boundary(known.get(row.session), row, row.session === here);
      if (told !== undefined) say(told.text, told.urgency);
    }
  }, [rows, here, app]);
}
