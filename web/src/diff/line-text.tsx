/** The words of a line with their colours, those that changed marked. */

import { createContext, use, useMemo } from "react";
import { Coloured } from "../text/coloured.tsx";
import type { LineColours } from "../text/fence.ts";
import { type Part, wordDiff } from "../text/words.ts";
import style from "./diff.module.css";
import type { Row } from "./rows.ts";
import { markedOf } from "./segments.ts";

/** Letters of one line that are shown. */
const LONGEST = 2000;
/** And where somebody decides about it. */
const DECIDED = 256 * 1024;

/** Somebody decides about these lines: nothing may be hidden behind the end of one. */
export const WholeLines = createContext(false);

interface LineTextProps {
  readonly row: Extract<Row, { text: string }>;
  readonly colours: LineColours | undefined;
}

export function LineText({ row, colours }: LineTextProps) {
  const parts = useMemo(() => partsOf(row), [row]);
  const whole = use(WholeLines);
  if (whole && row.text.length > LONGEST) {
    return <span className={style.long}>{short(row.text, DECIDED)}</span>;
  }
  if (row.text.length > LONGEST || (parts === null && colours === undefined)) {
    return short(row.text);
  }
  const marked = markedOf(parts ?? [{ text: row.text, changed: false }], colours);
  return marked.map(({ changed, segments }, at) =>
    changed ? (
      // oxlint-disable-next-line react/no-array-index-key -- words have no other name
      <mark key={at} className={row.kind === "added" ? style.wordAdded : style.wordRemoved}>
        <Coloured runs={segments} />
      </mark>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- nor have those between them
      <Coloured key={at} runs={segments} />
    ),
  );
}

function partsOf(row: Extract<Row, { text: string }>): readonly Part[] | null {
  if ((row.kind !== "removed" && row.kind !== "added") || row.partner === null) return null;
  if (row.kind === "removed") return wordDiff(row.text, row.partner)?.before ?? null;
  return wordDiff(row.partner, row.text)?.after ?? null;
}

function short(text: string, most = LONGEST): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)} \u2026 ${text.length - most} more characters`;
}

/** What a line is, for those who hear it. */
export function heardOf(row: Row, numbered: boolean): string {
  if (row.kind !== "removed" && row.kind !== "added") return "";
  return `${row.kind} line${numbered ? ` ${row.number}` : ""}: `;
}
