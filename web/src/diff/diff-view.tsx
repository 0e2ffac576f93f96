/** A change of one file: below one another or side by side, folded while it is long. */

import { type ReactNode, memo, useMemo, useState } from "react";
import { visible } from "../text/control.ts";
import { CopyButton } from "../text/copy-button.tsx";
import type { LineColours } from "../text/fence.ts";
import { type Language, languageOfPath } from "../text/languages.ts";
import { useColours } from "../text/use-colours.tsx";
import style from "./diff.module.css";
import { type Hunk, patchText, summaryOf, summaryText } from "./hunks.ts";
import { type Row, pairsOf, rowsOf } from "./rows.ts";
import { coloursOfRows, sidesOf } from "./sides.ts";
import { SplitRow } from "./split.tsx";
import { UnifiedRow } from "./unified.tsx";

export interface DiffViewProps {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly mode?: "unified" | "split";
  /** Without numbers: an edit that has not happened does not know where it will land. */
  readonly numbered?: boolean;
  /** Rows that are shown at first; 0: as many as fit on a page. */
  readonly fold?: number;
  /** A remark beside the name. */
  readonly note?: string;
  /** Fetches a change of which only a part was sent. */
  readonly onShowAll?: () => void;
}

export const FOLD = 20;
/** Rows that are added at a time. */
export const PAGE = 500;

export const DiffView = memo(function DiffView(props: DiffViewProps) {
  const { path, hunks, mode = "unified", numbered = true, fold = FOLD, note = "" } = props;
  const summary = useMemo(() => summaryOf(hunks), [hunks]);
  const shownPath = visible(path);
  return (
    <div className={style.diff}>
      <div className={style.bar}>
        <span className={style.path}>{shownPath}</span>
        {note !== "" && <span className={style.note}>{visible(note)}</span>}
        <Counts added={summary.added} removed={summary.removed} text={summaryText(summary)} />
        <CopyButton text={() => patchText(path, hunks)} label={`Copy changes in ${shownPath}`} />
      </div>
      {hunks.length === 0 ? (
        <p className={style.empty}>No lines change.</p>
      ) : (
        <Rows
          label={`Changes in ${shownPath}`}
          mode={mode}
          hunks={hunks}
          language={languageOfPath(path)}
          numbered={numbered}
          fold={fold}
        />
      )}
      {summary.more && props.onShowAll !== undefined && (
        <More onClick={props.onShowAll}>Show the whole change</More>
      )}
    </div>
  );
});

/** "+12 −3", in words for those who hear it. */
function Counts({ added, removed, text }: { added: number; removed: number; text: string }) {
  const [plus = "", minus = "", ...rest] = text.split(" ");
  return (
    <span className={style.counts}>
      <span className={style.heard}>{`${added} lines added, ${removed} removed`}</span>
      <span aria-hidden="true">
        <span className={style.plus}>{plus}</span> <span className={style.minus}>{minus}</span>{" "}
        {rest.join(" ")}
      </span>
    </span>
  );
}

interface RowsProps {
  readonly label: string;
  readonly mode: "unified" | "split";
  readonly hunks: readonly Hunk[];
  readonly language: Language | null;
  readonly numbered: boolean;
  readonly fold: number;
}

function Rows({ label, mode, hunks, language, numbered, fold }: RowsProps) {
  const [asked, setAsked] = useState(fold || PAGE);
  const rows = useMemo(() => rowsOf(hunks), [hunks]);
  const colours = useRowColours(rows, language);
  const pairs = useMemo(() => (mode === "split" ? pairsOf(rows) : []), [mode, rows]);
  const total = mode === "split" ? pairs.length : rows.length;
  // One more row costs less room than the button that would hide it.
  const shown = total - asked <= 1 ? total : asked;
  const next = Math.min(PAGE, total - shown);
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys scroll it */}
      <div className={style.scroll} role="group" aria-label={label} tabIndex={0}>
        <div
          className={mode === "split" ? style.split : style.unified}
          data-numbered={numbered}
          data-only={onlyKind(rows)}
        >
          {/* oxlint-disable react/no-array-index-key -- rows have no other name */}
          {mode === "split"
            ? pairs
                .slice(0, shown)
                .map((one, at) => (
                  <SplitRow
                    key={at}
                    pair={one}
                    numbered={numbered}
                    left={one.kind === "sides" && one.left ? colours.get(one.left) : undefined}
                    right={one.kind === "sides" && one.right ? colours.get(one.right) : undefined}
                  />
                ))
            : rows
                .slice(0, shown)
                .map((one, at) => (
                  <UnifiedRow key={at} row={one} numbered={numbered} colours={colours.get(one)} />
                ))}
          {/* oxlint-enable react/no-array-index-key */}
        </div>
      </div>
      {next > 0 && (
        <More onClick={() => setAsked(shown + next)}>
          {next === total - shown
            ? `Show ${next} more lines`
            : `Show ${next} of ${total - shown} more lines`}
        </More>
      )}
    </>
  );
}

/** A file that is new, or goes away, has numbers on one side. */
function onlyKind(rows: readonly Row[]): Row["kind"] | undefined {
  const first = rows.find((row) => row.kind !== "note")?.kind;
  return rows.every((row) => row.kind === first || row.kind === "note") ? first : undefined;
}

/** Both texts are code of one language; each line keeps its colours as they come. */
function useRowColours(
  rows: readonly Row[],
  language: Language | null,
): ReadonlyMap<Row, LineColours> {
  const sides = useMemo(() => sidesOf(rows), [rows]);
  const before = useColours(sides.old, sides.old === "" ? null : language, false);
  const after = useColours(sides.new, sides.new === "" ? null : language, false);
  return useMemo(() => coloursOfRows(rows, before, after), [rows, before, after]);
}

function More({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" className={style.more} onClick={onClick}>
      {children}
    </button>
  );
}
