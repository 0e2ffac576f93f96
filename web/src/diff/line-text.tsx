/** The words of a line, those that changed marked. */

import { useMemo } from "react";
import { visible } from "../text/control.ts";
import { type Part, wordDiff } from "../text/words.ts";
import style from "./diff.module.css";
import type { Row } from "./rows.ts";

/** Letters of one line that are shown. */
const LONGEST = 2000;

export function LineText({ row }: { row: Extract<Row, { text: string }> }) {
  const parts = useMemo(() => partsOf(row), [row]);
  if (parts === null) return short(row.text);
  return parts.map((one, at) =>
    one.changed ? (
      // oxlint-disable-next-line react/no-array-index-key -- words have no other name
      <mark key={at} className={row.kind === "added" ? style.wordAdded : style.wordRemoved}>
        {visible(one.text)}
      </mark>
    ) : (
      visible(one.text)
    ),
  );
}

function partsOf(row: Extract<Row, { text: string }>): readonly Part[] | null {
  if ((row.kind !== "removed" && row.kind !== "added") || row.partner === null) return null;
  if (row.kind === "removed") return wordDiff(row.text, row.partner)?.before ?? null;
  return wordDiff(row.partner, row.text)?.after ?? null;
}

function short(text: string): string {
  if (text.length <= LONGEST) return visible(text);
  return `${visible(text.slice(0, LONGEST))} \u2026 ${text.length - LONGEST} more characters`;
}

/** What a line is, for those who hear it. */
export function heardOf(row: Row, numbered: boolean): string {
  if (row.kind !== "removed" && row.kind !== "added") return "";
  return `${row.kind} line${numbered ? ` ${row.number}` : ""}: `;
}
