/** One row of a change, old and new side by side. */

import { memo } from "react";
import type { LineColours } from "../text/fence.ts";
import style from "./diff.module.css";
import { LineText, heardOf } from "./line-text.tsx";
import type { Pair, Row } from "./rows.ts";
import { Across, Sign } from "./unified.tsx";

interface SplitRowProps {
  readonly pair: Pair;
  readonly numbered: boolean;
  readonly left: LineColours | undefined;
  readonly right: LineColours | undefined;
}

export const SplitRow = memo(function SplitRow(props: SplitRowProps) {
  const { pair, numbered, left, right } = props;
  if (pair.kind === "across") return <Across row={pair.row} />;
  return (
    <div className={style.pair}>
      <Side row={pair.left} side="left" numbered={numbered} colours={left} />
      <Side row={pair.right} side="right" numbered={numbered} colours={right} />
    </div>
  );
});

interface SideProps {
  readonly row: Row | null;
  readonly side: "left" | "right";
  readonly numbered: boolean;
  readonly colours: LineColours | undefined;
}

function Side({ row, side, numbered, colours }: SideProps) {
  if (row === null || row.kind === "gap" || row.kind === "note") {
    return <div className={style.nothing} />;
  }
  const number = row.kind !== "same" ? row.number : side === "left" ? row.old : row.new;
  // A line that stayed is heard once.
  const hidden = row.kind === "same" && side === "right";
  return (
    <div className={style[row.kind]} aria-hidden={hidden || undefined}>
      {numbered && <span className={style.number} data-line={number} aria-hidden="true" />}
      <Sign kind={row.kind} />
      <span className={style.text}>
        <span className={style.heard}>{heardOf(row, numbered)}</span>
        <LineText row={row} colours={colours} />
      </span>
    </div>
  );
}
