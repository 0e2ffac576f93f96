/** Hunks as rows that can be drawn, one below the other or side by side. */

import { exact, visible } from "../text/control.ts";
import type { Hunk } from "./hunks.ts";

export type Row =
  | { readonly kind: "same"; readonly old: number; readonly new: number; readonly text: string }
  | Changed
  | { readonly kind: "note"; readonly text: string }
  /** Lines between two hunks that did not change. */
  | { readonly kind: "gap"; readonly skipped: number };

export interface Changed {
  readonly kind: "removed" | "added";
  /** The number of the line in the file it stands in. */
  readonly number: number;
  readonly text: string;
  /** The line that it became, or was; null: it has none. */
  readonly partner: string | null;
}

/** What stands side by side. A note or a gap goes across. */
export type Pair =
  | { readonly kind: "across"; readonly row: Row }
  | { readonly kind: "sides"; readonly left: Row | null; readonly right: Row | null };

/** `decided`: somebody decides about these lines, so nothing in them may be unseen. */
export function rowsOf(hunks: readonly Hunk[], decided = false): readonly Row[] {
  const shown = decided ? exact : visible;
  const rows: Row[] = [];
  let end = 1; // the first old line that has not been told
  for (const hunk of hunks) {
    const skipped = hunk.oldStart - end;
    if (rows.length > 0 && skipped > 0) rows.push({ kind: "gap", skipped });
    addHunk(rows, hunk, shown);
    end = hunk.oldStart + hunk.oldLines;
  }
  return rows;
}

function addHunk(rows: Row[], hunk: Hunk, shown: (text: string) => string): void {
  let before = hunk.oldStart;
  let after = hunk.newStart;
  let removed: Changed[] = [];
  let added: Changed[] = [];
  const settle = (): void => {
    rows.push(...partnered(removed, added), ...partnered(added, removed));
    removed = [];
    added = [];
  };
  for (const line of hunk.lines) {
    const text = shown(line.slice(1));
    if (line.startsWith("-")) {
      if (added.length > 0) settle();
      removed.push({ kind: "removed", number: before++, text, partner: null });
    } else if (line.startsWith("+")) {
      added.push({ kind: "added", number: after++, text, partner: null });
    } else {
      settle();
      if (line.startsWith("\\")) rows.push({ kind: "note", text: text.trim() });
      else rows.push({ kind: "same", old: before++, new: after++, text });
    }
  }
  settle();
}

function partnered(some: readonly Changed[], others: readonly Changed[]): readonly Changed[] {
  return some.map((one, at) => {
    const other = others[at];
    return other === undefined ? one : { ...one, partner: other.text };
  });
}

export function pairsOf(rows: readonly Row[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let at = 0;
  while (at < rows.length) {
    const row = rows[at];
    if (row === undefined) break;
    if (row.kind === "removed" || row.kind === "added") {
      const removed = runOf(rows, at, "removed");
      const added = runOf(rows, at + removed.length, "added");
      pairs.push(...beside(removed, added));
      at += removed.length + added.length;
      continue;
    }
    if (row.kind === "same") pairs.push({ kind: "sides", left: row, right: row });
    else pairs.push({ kind: "across", row });
    at += 1;
  }
  return pairs;
}

function runOf(rows: readonly Row[], from: number, kind: Row["kind"]): readonly Row[] {
  let end = from;
  while (rows[end]?.kind === kind) end += 1;
  return rows.slice(from, end);
}

function beside(removed: readonly Row[], added: readonly Row[]): readonly Pair[] {
  const longer = removed.length > added.length ? removed : added;
  return longer.map((_, at) => ({
    kind: "sides",
    left: removed[at] ?? null,
    right: added[at] ?? null,
  }));
}
