/**
 * What is drawn of a change. A very long one can be worked out before it is drawn, step by step:
 * then this takes no time. What was worked out goes with the change it is of.
 */
import type { Hunk } from "./hunks.ts";
import { type Row, rowsOf } from "./rows.ts";
import { type Sides, sidesOf } from "./sides.ts";

type Hunks = readonly Hunk[];

const known = new WeakMap<Hunks, { readonly rows: readonly Row[]; readonly sides: Sides }>();

/** Work out the rows of a change that somebody decides about. */
export function* workOut(hunks: Hunks): Generator<undefined, void> {
  const rows = rowsOf(hunks, true);
  yield;
  known.set(hunks, { rows, sides: sidesOf(rows) });
}

/** `decided`: somebody decides about this change, so nothing in it may be unseen. */
export function rowsIn(hunks: Hunks, decided: boolean): readonly Row[] {
  return (decided ? known.get(hunks)?.rows : undefined) ?? rowsOf(hunks, decided);
}

/** `rows`: those of this change. */
export function sidesIn(hunks: Hunks, rows: readonly Row[]): Sides {
  const done = known.get(hunks);
  return done?.rows === rows ? done.sides : sidesOf(rows);
}
