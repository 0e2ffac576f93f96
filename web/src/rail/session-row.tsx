import { type ReactNode, memo, useCallback, useRef, useState } from "react";
import { Ellipsis } from "lucide-react";
import { later } from "../parts/later.tsx";
import { Link } from "../parts/link.tsx";
import { Mark } from "../parts/mark.tsx";
import { ago } from "../parts/spoken.ts";
import { useApp } from "../parts/use-store.ts";
import { attention, doing, titleOf } from "../store/attention.ts";
import { sinceOf } from "../store/grouping.ts";
import type { Row } from "../store/rows.ts";
import { useLeavesFocus } from "./kept-focus.ts";
import style from "./session-row.module.css";

const RowMenu = later(() => import("./row-menu.tsx").then((one) => one.RowMenu));

interface Props {
  readonly row: Row;
  readonly nowMs: number;
  readonly current: boolean;
}

/** Two lines: what it is called, and what it wants or does now. */
export const SessionRow = memo(function SessionRow({ row, nowMs, current }: Props): ReactNode {
  const app = useApp();
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const line = useRef<HTMLLIElement>(null);
  useLeavesFocus(line, row.session);
  const close = useCallback(() => setOpen(false), []);
  const state = attention(row);
  return (
    <li
      ref={line}
      className={style.row}
      data-session={row.session}
      data-current={current}
      data-state={state}
      data-menu={open}
    >
      <Link
        to={{ view: "session", session: row.session }}
        className={style.link}
        data-row=""
        aria-current={current ? "page" : undefined}
        title={row.cwd}
        onClick={() => app.ui.slide("")}
      >
        <Mark state={state} silent />
        <span className={style.title}>{titleOf(row)}</span>
        <span className={style.age}>{ago(sinceOf(row), nowMs)}</span>
        <span className={style.doing}>{second(row)}</span>
      </Link>
      <button
        ref={button}
        type="button"
        className={style.more}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={`More for ${titleOf(row)}`}
        onClick={() => setOpen(!open)}
      >
        <Ellipsis aria-hidden="true" />
      </button>
      {open && <RowMenu row={row} anchor={button} onClose={close} onFail={close} />}
    </li>
  );
});

function second(row: Row): string {
  const said = row.archived ? `${doing(row)} · archived` : doing(row);
  return row.queued > 0 ? `${said} · ${row.queued} queued` : said;
}
