/** One row of a change, old and new lines below one another. */

import { memo } from "react";
import type { LineColours } from "../text/fence.ts";
import style from "./diff.module.css";
import { LineText, heardOf } from "./line-text.tsx";
import type { Row } from "./rows.ts";

const SIGNS = { same: " ", removed: "\u2212", added: "+" } as const;

interface UnifiedRowProps {
  readonly row: Row;
  readonly numbered: boolean;
  readonly colours: LineColours | undefined;
}

export const UnifiedRow = memo(function UnifiedRow(props: UnifiedRowProps) {
  const { row, numbered, colours } = props;
  if (row.kind === "gap" || row.kind === "note") return <Across row={row} />;
  const old = row.kind === "same" ? row.old : row.kind === "removed" ? row.number : "";
  const fresh = row.kind === "same" ? row.new : row.kind === "added" ? row.number : "";
  return (
    <div className={style[row.kind]}>
      {numbered && <span className={style.number} data-line={old} aria-hidden="true" />}
      {numbered && <span className={style.number} data-line={fresh} aria-hidden="true" />}
      <Sign kind={row.kind} />
      <span className={style.text}>
        <span className={style.heard}>{heardOf(row, numbered)}</span>
        <LineText row={row} colours={colours} />
      </span>
    </div>
  );
});

/** A colour alone would not tell everybody what happened to a line. */
export function Sign({ kind }: { kind: keyof typeof SIGNS }) {
  return <span className={style.sign} data-sign={SIGNS[kind]} aria-hidden="true" />;
}

/** A remark, or lines that were left out. */
export function Across({ row }: { row: Row }) {
  if (row.kind === "gap") {
    return <div className={style.across}>{`${row.skipped} unchanged lines`}</div>;
  }
  return row.kind === "note" ? <div className={style.across}>{row.text}</div> : null;
}
