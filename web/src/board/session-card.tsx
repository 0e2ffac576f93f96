import { type ReactNode, memo } from "react";
import { Link } from "../parts/link.tsx";
import { Mark } from "../parts/mark.tsx";
import { ago, money } from "../parts/spoken.ts";
import { attention, doing, titleOf } from "../store/attention.ts";
import { sinceOf } from "../store/grouping.ts";
import type { Row } from "../store/rows.ts";
import style from "./session-card.module.css";

interface Props {
  readonly row: Row;
  readonly nowMs: number;
}

/** A session at a glance: what it does, for how long, where, and what it has cost. */
export const SessionCard = memo(function SessionCard({ row, nowMs }: Props): ReactNode {
  const state = attention(row);
  return (
    <li className={style.card} data-state={state}>
      <Link to={{ view: "session", session: row.session }} className={style.link}>
        <span className={style.line}>
          <Mark state={state} silent />
          <span className={style.title}>{titleOf(row)}</span>
          <span className={style.meta}>{ago(sinceOf(row), nowMs)}</span>
        </span>
        <span className={style.doing}>
          {doing(row)}
          {row.queued > 0 && ` · ${row.queued} queued`}
        </span>
        <span className={style.folder} title={row.cwd}>
          {/* the end of a path says more than its beginning */}
          <bdi>{row.cwd}</bdi>
        </span>
        <span className={style.foot}>
          <span>{[row.agent, row.model].filter(Boolean).join(" · ")}</span>
          <span>{row.costUsd > 0 ? money(row.costUsd) : ""}</span>
        </span>
      </Link>
    </li>
  );
});
