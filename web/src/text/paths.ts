/** Finds names of files in a text, with the line they point to. */

export interface PathMatch {
  readonly start: number;
  readonly end: number;
  readonly path: string;
  /** 0: no line is named. */
  readonly line: number;
  readonly column: number;
}

const TEXT_LIMIT = 64 * 1024;
// A name may not begin inside a word or an address; so every letter is looked at once.
const PATH =
  /(?<![\w/.:@+\\-])((?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/])?(?:[\w.@+-]+[\\/])*[\w.@+-]*\w)(?::(\d{1,7})(?:[:-](\d{1,7}))?|\((\d{1,7})(?:,\s?(\d{1,7}))?\)|#L(\d{1,7}))?(?![\w/\\])/g;
const ENDING = /\.(?=[a-z])[a-z0-9]{1,10}$/i;
// A bare name with another ending is more likely an expression or a host.
const BARE =
  /^[\w-][\w.-]*\.(?:py|pyi|[cm]?[jt]sx?|rs|go|rb|java|kt|swift|c|h|cc|cpp|hpp|cs|php|sh|sql|css|html?|json|jsonl|ya?ml|toml|md|txt|lock|cfg|ini|xml|vue|svelte)$/i;

/** The names of files in a text, in their order. */
export function findPaths(text: string): readonly PathMatch[] {
  if (text.length > TEXT_LIMIT) return [];
  const found: PathMatch[] = [];
  for (const match of text.matchAll(PATH)) {
    const [whole, path = "", colonLine, colonColumn, parenLine, parenColumn, hashLine] = match;
    const line = Number(colonLine ?? parenLine ?? hashLine ?? 0);
    if (!likely(path, line > 0)) continue;
    const column = Number(colonColumn ?? parenColumn ?? 0);
    found.push({ start: match.index, end: match.index + whole.length, path, line, column });
  }
  return found;
}

/** A whole text that is one name of a file, as in a code span or the target of a link. */
export function pathOf(text: string): PathMatch | null {
  const [first] = findPaths(text);
  return first?.start === 0 && first.end === text.length ? first : null;
}

function likely(path: string, hasLine: boolean): boolean {
  if (!/[\\/]/.test(path)) return BARE.test(path);
  if (ENDING.test(path)) return true;
  const parts = path.split(/[\\/]/).filter((one) => one !== "");
  const rooted = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:)/.test(path);
  return parts.length > 1 && (rooted || hasLine);
}
