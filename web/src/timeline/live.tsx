import type { ReactNode } from "react";
import { Mark } from "../parts/mark.tsx";
import { elapsed } from "../parts/spoken.ts";
import { useSeconds } from "../parts/use-seconds.ts";
import { useKey, useView } from "../parts/use-store.ts";
import { attention, doing } from "../store/attention.ts";
import { rowOf, rowWithView } from "../store/rows.ts";
import type { SessionStore } from "../store/session.ts";
import style from "./entry.module.css";

/** The last line while something runs: what it does now, and for how long. */
export function Live({ store }: { readonly store: SessionStore }): ReactNode {
  const view = useView(store);
  const row = view === undefined ? undefined : rowWithView(rowOf({}), view);
  const running = row !== undefined && attention(row) === "running";
  const now = useSeconds(running);
  const saying = useKey(store.emitter, "saying", () => store.transcript.saying);
  if (row === undefined || !running) return null;
  return (
    <p className={style.live}>
      <Mark state="running" /> {doing(row, saying)} · {elapsed(now - row.sinceMs)}
    </p>
  );
}
