/** The rows of a change: the first of them, all of them, and of very many those that are seen. */

import { type ReactNode, use, useMemo } from "react";
import { Near } from "../parts/near.tsx";
import { useOpened } from "../parts/opened.ts";
import type { LineColours } from "../text/fence.ts";
import type { Language } from "../text/languages.ts";
import { useColours } from "../text/use-colours.tsx";
import style from "./diff.module.css";
import type { Hunk } from "./hunks.ts";
import { WholeLines } from "./line-text.tsx";
import { type Pair, type Row, pairsOf } from "./rows.ts";
import { coloursOfRows } from "./sides.ts";
import { SplitRow } from "./split.tsx";
import { UnifiedRow } from "./unified.tsx";
import { rowsIn, sidesIn } from "./worked-out.ts";

/** Of more rows only those are drawn that are near what is seen. */
export const MANY = 500;
/** Rows that are drawn together then. */
const PART = 50;

export interface DiffRowsProps {
  readonly label: string;
  readonly mode: "unified" | "split";
  readonly hunks: readonly Hunk[];
  readonly language: Language | null;
  readonly numbered: boolean;
  readonly fold: number;
  /** Names it, so that what was unfolded stays so. */
  readonly id: string;
  /** Fetches a change of which only a part was sent. */
  readonly onShowAll: (() => void) | undefined;
}

export function DiffRows(props: DiffRowsProps) {
  const { label, mode, hunks, language, numbered, fold, id, onShowAll } = props;
  const [unfolded, setUnfolded] = useOpened(`rows:${id}`, false);
  const decided = use(WholeLines);
  const rows = useMemo(() => rowsIn(hunks, decided), [hunks, decided]);
  const colours = useRowColours(hunks, rows, language);
  const pairs = useMemo(() => (mode === "split" ? pairsOf(rows) : []), [mode, rows]);
  const total = mode === "split" ? pairs.length : rows.length;
  // One more row costs less room than the button that would hide it.
  const shown = unfolded || total - fold <= 1 ? total : fold;
  const between = (from: number, to: number): ReactNode =>
    mode === "split"
      ? splitRows(pairs.slice(from, to), numbered, colours)
      : unifiedRows(rows.slice(from, to), numbered, colours);
  return (
    <>
      <div
        // who unfolds very much looks into it, and does not want to lose the page around it
        className={unfolded && total > MANY ? style.tall : style.scroll}
        role="group"
        aria-label={label}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys scroll it
        tabIndex={0}
      >
        <div
          className={mode === "split" ? style.split : style.unified}
          data-numbered={numbered}
          data-only={onlyKind(rows)}
        >
          {shown <= MANY ? between(0, shown) : inParts(shown, between)}
        </div>
      </div>
      {(shown < total || onShowAll !== undefined) && (
        <button
          type="button"
          className={style.more}
          onClick={() => {
            setUnfolded(true);
            onShowAll?.();
          }}
        >
          {onShowAll === undefined
            ? `Show ${(total - shown).toLocaleString("en")} more lines`
            : "Show the whole change"}
        </button>
      )}
    </>
  );
}

type Colours = ReadonlyMap<Row, LineColours>;

/* oxlint-disable react/no-array-index-key -- rows have no other name */
function splitRows(pairs: readonly Pair[], numbered: boolean, colours: Colours): ReactNode {
  return pairs.map((one, at) => (
    <SplitRow
      key={at}
      pair={one}
      numbered={numbered}
      left={one.kind === "sides" && one.left ? colours.get(one.left) : undefined}
      right={one.kind === "sides" && one.right ? colours.get(one.right) : undefined}
    />
  ));
}

function unifiedRows(rows: readonly Row[], numbered: boolean, colours: Colours): ReactNode {
  return rows.map((one, at) => (
    <UnifiedRow key={at} row={one} numbered={numbered} colours={colours.get(one)} />
  ));
}
/* oxlint-enable react/no-array-index-key */

function inParts(shown: number, between: (from: number, to: number) => ReactNode): ReactNode {
  const parts: ReactNode[] = [];
  for (let from = 0; from < shown; from += PART) {
    const to = Math.min(shown, from + PART);
    parts.push(
      <Near key={from} rows={to - from} first={from === 0}>
        {() => between(from, to)}
      </Near>,
    );
  }
  return parts;
}

/** A file that is new, or goes away, has numbers on one side. */
function onlyKind(rows: readonly Row[]): Row["kind"] | undefined {
  const first = rows.find((row) => row.kind !== "note")?.kind;
  return rows.every((row) => row.kind === first || row.kind === "note") ? first : undefined;
}

/** Both texts are code of one language; each line keeps its colours as they come. */
function useRowColours(
  hunks: readonly Hunk[],
  rows: readonly Row[],
  language: Language | null,
): ReadonlyMap<Row, LineColours> {
  const sides = useMemo(() => sidesIn(hunks, rows), [hunks, rows]);
  const before = useColours(sides.old, sides.old === "" ? null : language, false);
  const after = useColours(sides.new, sides.new === "" ? null : language, false);
  return useMemo(() => coloursOfRows(rows, before, after), [rows, before, after]);
}
