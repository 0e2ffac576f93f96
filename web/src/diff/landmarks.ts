/**
 * The difference of two long texts, found without trying everything.
 *
 * Lines that both texts have, and have once only, are landmarks. Between two of them, lines that are
 * the same at either end stay; all others were removed and added. That takes a moment for any two
 * texts, where the best difference of two that have little in common takes minutes.
 */

import type { Hunk } from "./hunks.ts";

/** A line of the old text, and the same line of the new one. */
type Match = readonly [number, number];

export const CONTEXT = 3;

export function hunksAround(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  return hunksOfMatches(before, after, matches(before, after));
}

function matches(before: readonly string[], after: readonly string[]): readonly Match[] {
  const found: Match[] = [];
  let old = 0;
  let fresh = 0;
  const end: Match = [before.length, after.length];
  for (const [nextOld, nextFresh] of [...landmarks(before, after), end]) {
    while (old < nextOld && fresh < nextFresh && before[old] === after[fresh]) {
      found.push([old++, fresh++]);
    }
    let same = 0;
    const left = Math.min(nextOld - old, nextFresh - fresh);
    while (same < left && before[nextOld - same - 1] === after[nextFresh - same - 1]) same += 1;
    for (let at = same; at > 0; at -= 1) found.push([nextOld - at, nextFresh - at]);
    old = nextOld;
    fresh = nextFresh;
  }
  return found;
}

/** Lines that stand once in each text, as many as keep their order. */
function landmarks(before: readonly string[], after: readonly string[]): readonly Match[] {
  const places = once(after);
  const pairs: Match[] = [];
  for (const [line, old] of once(before)) {
    const fresh = places.get(line);
    if (fresh !== undefined) pairs.push([old, fresh]);
  }
  return inOrder(pairs);
}

function once(lines: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  const more = new Set<string>();
  lines.forEach((line, at) => {
    if (places.has(line)) more.add(line);
    else places.set(line, at);
  });
  for (const line of more) places.delete(line);
  return places;
}

/** The longest choice whose new places rise; the old ones rise already. */
function inOrder(pairs: readonly Match[]): readonly Match[] {
  const ends: number[] = []; // of the best choice of each length, which pair ends it
  const before: number[] = [];
  pairs.forEach(([, fresh], at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < fresh) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1] ?? -1;
    ends[low] = at;
  });
  const chosen: Match[] = [];
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) chosen.push(pair);
  }
  return chosen.toReversed();
}

// ---- hunks --------------------------------------------------------------------------------------

class Growing {
  readonly lines: string[] = [];
  private removed = 0;
  private added = 0;
  private same = 0;

  constructor(
    private readonly oldStart: number,
    private readonly newStart: number,
  ) {}

  keep(lines: readonly string[]): void {
    this.lines.push(...lines.map((one) => ` ${one}`));
    this.same += lines.length;
  }

  change(removed: readonly string[], added: readonly string[]): void {
    for (const one of removed) this.lines.push(`-${one}`);
    for (const one of added) this.lines.push(`+${one}`);
    this.removed += removed.length;
    this.added += added.length;
  }

  get hunk(): Hunk {
    const oldLines = this.same + this.removed;
    const newLines = this.same + this.added;
    return {
      oldStart: oldLines > 0 ? this.oldStart + 1 : this.oldStart,
      oldLines,
      newStart: newLines > 0 ? this.newStart + 1 : this.newStart,
      newLines,
      lines: this.lines,
    };
  }
}

function hunksOfMatches(
  before: readonly string[],
  after: readonly string[],
  same: readonly Match[],
): readonly Hunk[] {
  const hunks: Growing[] = [];
  let open: Growing | undefined;
  let run = 0; // matching lines since the last change
  let [old, fresh] = [0, 0];
  const end: Match = [before.length, after.length];
  for (const [nextOld, nextFresh] of [...same, end]) {
    if (nextOld > old || nextFresh > fresh) {
      if (open === undefined || run > 2 * CONTEXT) {
        const context = Math.min(CONTEXT, run);
        open?.keep(before.slice(old - run, old - run + CONTEXT));
        open = new Growing(old - context, fresh - context);
        open.keep(before.slice(old - context, old));
        hunks.push(open);
      } else {
        open.keep(before.slice(old - run, old));
      }
      open.change(before.slice(old, nextOld), after.slice(fresh, nextFresh));
      run = 0;
    }
    [old, fresh] = [nextOld + 1, nextFresh + 1];
    run += 1;
  }
  // the end itself was counted as a line that matches
  const left = run - 1;
  open?.keep(before.slice(before.length - left, before.length - left + Math.min(left, CONTEXT)));
  return hunks.map((one) => one.hunk);
}
