/**
 * Closes what a text that still grows has left open, so that `**bo` shows bold and not asterisks.
 *
 * Only the last leaf counts: the paragraph, list item, heading or cell that is being written. The
 * scan is linear and follows the rules of emphasis roughly: a wrong guess lasts until the next
 * delta and never reaches a finished block.
 */

interface Mark {
  readonly sign: string;
  count: number;
}

const LEAF_LIMIT = 8 * 1024;
// A line that begins a leaf of its own: an item, a quote, a heading, a row.
const LEAF = /^[ \t]*(?:>[ \t]*)*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})[ \t]+(?:\[[ xX]\][ \t]+)?)?/;
const STARTS = /^[ \t]*(?:[-+*][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|\||$)/;
// The start of a line that can still become anything: it is not shown before it is decided.
const UNDECIDED =
  /(?:^|\n)[ \t]*(?:[-=+*_]{1,3}|\d{1,9}[.)]?|#{1,6}|`{1,2}|~{1,2}|>|\|[-:| \t]*)[ \t]*$/;

/** A growing text as it is to be shown now. */
export function mend(text: string): string {
  const shown = text.replace(UNDECIDED, "");
  const start = leafStart(shown);
  if (shown.length - start > LEAF_LIMIT) return shown;
  return shown.slice(0, start) + close(shown.slice(start));
}

function leafStart(text: string): number {
  let at = text.length;
  while (at > 0) {
    const line = text.lastIndexOf("\n", at - 1) + 1;
    const words = text.slice(line, at);
    if (line === 0 || STARTS.test(words)) return line + (LEAF.exec(words)?.[0].length ?? 0);
    if (text.length - line > LEAF_LIMIT) return line;
    at = line - 1;
  }
  return 0;
}

/** One leaf with its open marks closed. */
export function close(leaf: string): string {
  const cut = withoutHalfLink(leaf);
  const open: Mark[] = [];
  let at = 0;
  while (at < cut.length) {
    const sign = cut[at] ?? "";
    if (sign === "\\") {
      at += 2;
    } else if (sign === "`") {
      const run = runAt(cut, at);
      const end = codeEnd(cut, at + run, run);
      if (end < 0) return closeCode(cut, at, run, open);
      at = end;
    } else if (sign === "*" || sign === "_" || sign === "~") {
      const run = runAt(cut, at);
      if (at + run === cut.length) return closeAll(cut.slice(0, at), open);
      weigh(open, sign, run, cut[at - 1] ?? " ", cut[at + run] ?? " ");
      at += run;
    } else {
      at += 1;
    }
  }
  return closeAll(cut, open);
}

function runAt(text: string, at: number): number {
  let end = at;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

function codeEnd(text: string, from: number, run: number): number {
  let at = text.indexOf("`", from);
  while (at >= 0) {
    const here = runAt(text, at);
    if (here === run) return at + here;
    at = text.indexOf("`", at + here);
  }
  return -1;
}

function closeCode(text: string, at: number, run: number, open: readonly Mark[]): string {
  const code = text.slice(at + run).replace(/`+$/, "");
  if (code.trim() === "") return closeAll(text.slice(0, at), open);
  const ticks = "`".repeat(run);
  return closeAll(`${text.slice(0, at)}${ticks}${code}${ticks}`, open);
}

/** Puts a run of marks on the pile, or takes from it what the run closes. */
function weigh(open: Mark[], sign: string, run: number, before: string, after: string): void {
  if (sign === "_" && /\w/.test(before) && /\w/.test(after)) return; // snake_case
  if (sign === "~" && run > 2) return;
  const left = /\s/.test(before) ? run : take(open, sign, run);
  if (left > 0 && !/\s/.test(after)) open.push({ sign, count: left });
}

/** Closes what the marks can close, and returns how many are left. */
function take(open: Mark[], sign: string, run: number): number {
  let left = run;
  for (let top = open.at(-1); top?.sign === sign && left > 0; top = open.at(-1)) {
    const used = Math.min(left, top.count);
    left -= used;
    top.count -= used;
    if (top.count === 0) open.pop();
  }
  return left;
}

function closeAll(text: string, open: readonly Mark[]): string {
  const words = text.trimEnd();
  let ends = "";
  let shown = words;
  for (const { sign, count } of open.toReversed()) {
    const marks = sign.repeat(count);
    // Marks with nothing behind them yet would only be seen as themselves.
    if (ends === "" && shown.endsWith(marks)) shown = shown.slice(0, -count).trimEnd();
    else ends += marks;
  }
  return shown + ends + text.slice(words.length);
}

/** `[words](https://hal` shows its words; a picture waits for its address. */
function withoutHalfLink(leaf: string): string {
  const target = leaf.lastIndexOf("](");
  if (target < 0 || leaf.indexOf(")", target) >= 0 || /\s/.test(leaf.slice(target))) return leaf;
  const start = leaf.lastIndexOf("[", target);
  if (start < 0) return leaf;
  if (leaf[start - 1] === "!") return leaf.slice(0, start - 1);
  return leaf.slice(0, start) + leaf.slice(start + 1, target);
}
