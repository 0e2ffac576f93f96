/** A change of one file: below one another or side by side, folded while it is long. */

import { memo, useMemo, useState } from "react";
import { exact, visible } from "../text/control.ts";
import { CopyButton } from "../text/copy-button.tsx";
import { languageOfPath } from "../text/languages.ts";
import { DiffRows } from "./diff-rows.tsx";
import style from "./diff.module.css";
import { WholeLines } from "./line-text.tsx";
import { type Hunk, patchText, summaryOf, summaryText } from "./hunks.ts";

export interface DiffViewProps {
  readonly path: string;
  readonly hunks: readonly Hunk[];
  readonly mode?: "unified" | "split";
  /** Without numbers: an edit that has not happened does not know where it will land. */
  readonly numbered?: boolean;
  /** Rows that are shown before somebody asks for more. */
  readonly fold?: number;
  /** Names it, so that what was unfolded stays so. */
  readonly id?: string;
  /** A remark beside the name. */
  readonly note?: string;
  /** Fetches a change of which only a part was sent. */
  readonly onShowAll?: () => void;
}

export const FOLD = 20;
/** Those that nobody named forget what was unfolded. */
let nameless = 0;

export const DiffView = memo(function DiffView(props: DiffViewProps) {
  const { path, hunks, mode = "unified", numbered = true, fold = FOLD, note = "" } = props;
  const [own] = useState(() => `diff-${(nameless += 1)}`);
  const summary = useMemo(() => summaryOf(hunks), [hunks]);
  const decided = fold === Number.POSITIVE_INFINITY; // all of it is shown: somebody decides
  const shown = decided ? exact : visible;
  const shownPath = shown(path);
  return (
    <div className={style.diff}>
      <div className={style.bar}>
        <span className={style.path}>{shownPath}</span>
        {note !== "" && <span className={style.note}>{shown(note)}</span>}
        <Counts added={summary.added} removed={summary.removed} text={summaryText(summary)} />
        <CopyButton text={() => patchText(path, hunks)} label={`Copy changes in ${shownPath}`} />
      </div>
      {hunks.length === 0 ? (
        <p className={style.empty}>No lines change.</p>
      ) : (
        <WholeLines value={decided}>
          <DiffRows
            label={`Changes in ${shownPath}`}
            mode={mode}
            hunks={hunks}
            language={languageOfPath(path)}
            numbered={numbered}
            fold={fold}
            id={props.id ?? own}
            onShowAll={summary.more ? props.onShowAll : undefined}
          />
        </WholeLines>
      )}
    </div>
  );
});

/** "+12 −3", in words for those who hear it. */
function Counts({ added, removed, text }: { added: number; removed: number; text: string }) {
  const [plus = "", minus = "", ...rest] = text.split(" ");
  return (
    <span className={style.counts}>
      <span
        className={style.heard}
      >{`${added} ${added === 1 ? "line" : "lines"} added, ${removed} removed`}</span>
      <span aria-hidden="true">
        <span className={style.plus}>{plus}</span> <span className={style.minus}>{minus}</span>{" "}
        {rest.join(" ")}
      </span>
    </span>
  );
}
