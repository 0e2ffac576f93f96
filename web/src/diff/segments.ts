/** A line cut where its colour changes, and where a changed word begins or ends. */

import { type LineColours, runsOf } from "../text/fence.ts";
import type { Part } from "../text/words.ts";

export interface Segment {
  readonly text: string;
  /** A place in the list of kinds; 0: plain. */
  readonly kind: number;
}

/** Pieces of one word part after the other; a word that changed is one mark, whatever its colours. */
export interface Marked {
  readonly changed: boolean;
  readonly segments: readonly Segment[];
}

export function markedOf(parts: readonly Part[], colours: LineColours | undefined): Marked[] {
  const line = parts.map((one) => one.text).join("");
  const runs = runsOf(line, colours);
  let at = 0; // the run that is being given out, and how much of it is gone
  let gone = 0;
  return parts.map(({ text, changed }) => {
    const segments: Segment[] = [];
    for (let left = text.length; left > 0;) {
      const run = runs[at];
      if (run === undefined) break;
      const taken = run.text.slice(gone, gone + left);
      if (taken !== "") segments.push({ text: taken, kind: run.kind });
      left -= taken.length;
      gone += taken.length;
      if (gone >= run.text.length) {
        at += 1;
        gone = 0;
      }
    }
    return { changed, segments };
  });
}
