/**
 * Texts that would take the lexer too long, told by a linear look.
 *
 * Some of its rules are quadratic, and a text may be written to find them. Such a text is shown
 * as it is. The limits are far from anything a person wants to read.
 */

/** Quotes and lists in one another, at most. */
export const DEEPEST = 16;
/** A segment above this stays plain text for good. */
const SEGMENT_LIMIT = 256 * 1024;
const MOST_CELLS = 20_000;
/** Signs times letters in one paragraph: 16 KB with 256 signs, or 2 KB of nothing else. */
const INLINE_COST = 4 * 1024 * 1024;

// One level a sign on one line, or one level a line by its indent.
const TOO_DEEP = new RegExp(
  `^(?:[ \\t]*(?:>|[-+*](?=[ \\t>])|\\d{1,9}[.)](?=[ \\t>]))){${DEEPEST + 1}}`,
  "m",
);
const INDENTED = /^ {64,}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/m;
const SIGNS = /[*_~`[\]!<\\&@]|:\/\/|www\./g;

export function costly(text: string): boolean {
  if (text.length > SEGMENT_LIMIT || TOO_DEEP.test(text) || INDENTED.test(text)) return true;
  return cells(text) > MOST_CELLS;
}

export function inlineCostly(text: string): boolean {
  if (text.length < 2048) return false;
  if (text.includes("@") && text.split(/\s/).some((word) => word.length > 1024)) return true;
  return (text.match(SIGNS)?.length ?? 0) * text.length > INLINE_COST;
}

/** The cells of the widest table if all lines were its rows. */
function cells(text: string): number {
  const lines = text.split("\n");
  let widest = 0;
  for (const line of lines) {
    if (/^[ \t|:-]+$/.test(line)) widest = Math.max(widest, line.split("|").length);
  }
  return widest * lines.length;
}
