import { type ReactNode, useEffect, useState } from "react";
import { Mark } from "../parts/mark.tsx";
import { duration } from "../parts/spoken.ts";
import { useView } from "../parts/use-store.ts";
import { attention, doing } from "../store/attention.ts";
import { rowOf, rowWithView } from "../store/rows.ts";
import type { SessionStore } from "../store/session.ts";
import style from "./entry.module.css";

/** The last line while something runs: what it does now, and for how long. */
export function Live({ store }: { readonly store: SessionStore }): ReactNode {
  const view = useView(store);
  const row = view === undefined ? undefined : rowWithView(rowOf({}), view);
  const running = row !== undefined && attention(row) === "running";
  const now = useClock(running);
  if (row === undefined || !running) return null;
  return (
    <p className={style.live}>
      <Mark state="running" /> {doing(row)} · {duration(now - row.sinceMs)}
    </p>
  );
}

/** The time, each second, while somebody needs it. */
function useClock(on: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!on) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [on]);
  return now;
}
