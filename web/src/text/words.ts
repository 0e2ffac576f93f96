/** Which words of two lines differ. */

import { diffWordsWithSpace } from "diff";

export interface Part {
  readonly text: string;
  readonly changed: boolean;
}

export interface WordDiff {
  readonly before: readonly Part[];
  readonly after: readonly Part[];
}

const LINE_LIMIT = 1000;
const MOST_EDITS = 200;
/** Lines with less in common are two lines, not one that was changed. */
const IN_COMMON = 0.3;

/** The words of two lines; null where marking words would help nobody. */
export function wordDiff(before: string, after: string): WordDiff | null {
  if (before.length > LINE_LIMIT || after.length > LINE_LIMIT) return null;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS });
  if (changes === undefined) return null;
  const common = changes
    .filter((one) => !one.added && !one.removed)
    .reduce((sum, one) => sum + one.value.trim().length, 0);
  const longer = Math.max(before.trim().length, after.trim().length);
  if (longer === 0 || common / longer < IN_COMMON) return null;
  return {
    before: changes
      .filter((one) => !one.added)
      .map(({ value, removed }) => ({ text: value, changed: removed })),
    after: changes
      .filter((one) => !one.removed)
      .map(({ value, added }) => ({ text: value, changed: added })),
  };
}
