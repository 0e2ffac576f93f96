/** The two texts behind a change, so that their code can be coloured, and the rows that show them. */

import type { LineColours } from "../text/fence.ts";
import type { Row } from "./rows.ts";

export interface Sides {
  /** What was there, as far as the change tells it; "" when nothing of it goes away. */
  readonly old: string;
  readonly new: string;
}

export function sidesOf(rows: readonly Row[]): Sides {
  const goes = rows.some((row) => row.kind === "removed");
  return {
    old: goes ? textOf(rows, "removed") : "",
    new: textOf(rows, "added"),
  };
}

/** A line that stays is in both texts: it brings the grammar to where the next one begins. */
function textOf(rows: readonly Row[], changed: "removed" | "added"): string {
  const lines: string[] = [];
  for (const row of rows) {
    if (row.kind === "same" || row.kind === changed) lines.push(row.text);
  }
  return lines.join("\n");
}

/** Which row has which colours, of those that have come. */
export function coloursOfRows(
  rows: readonly Row[],
  before: readonly LineColours[],
  after: readonly LineColours[],
): ReadonlyMap<Row, LineColours> {
  const found = new Map<Row, LineColours>();
  let old = 0;
  let fresh = 0;
  for (const row of rows) {
    const colours = row.kind === "removed" ? before[old] : after[fresh];
    if (row.kind === "same" || row.kind === "removed") old += 1;
    if (row.kind === "same" || row.kind === "added") fresh += 1;
    if (colours !== undefined && "text" in row && row.kind !== "note") found.set(row, colours);
  }
  return found;
}
