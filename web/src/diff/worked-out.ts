/**
 * What is drawn of a change. A very long one can be worked out before it is drawn, step by step:
 * then this takes no time. What was worked out goes with the change it is of.
 */
import type { Hunk } from "./hunks.ts";
import { type Row, rowsOf } from "./rows.ts";
import { type Sides, sidesOf } from "./sides.ts";

type Hunks = readonly Hunk[];

const known = new WeakMap<Hunks, { readonly rows: readonly Row[]; readonly sides: Sides }>();

export function* workOut(hunks: Hunks): Generator<undefined, void> {
  const rows = rowsOf(hunks);
  yield;
  known.set(hunks, { rows, sides: sidesOf(rows) });
}

export function rowsIn(hunks: Hunks): readonly Row[] {
  return known.get(hunks)?.rows ?? rowsOf(hunks);
}

/** `rows`: those of this change. */
export function sidesIn(hunks: Hunks, rows: readonly Row[]): Sides {
  return known.get(hunks)?.sides ?? sidesOf(rows);
}
