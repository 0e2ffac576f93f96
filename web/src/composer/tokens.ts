/** The word at the caret that suggestions are for: a command at the very beginning, or a file. */
export interface Token {
  readonly kind: "slash" | "file";
  readonly query: string;
  /** Where the word begins, its sign included, and where it ends: at the caret. */
  readonly start: number;
  readonly end: number;
}

const SLASH = /^\/([\w:.-]*)$/;
const FILE = /(?:^|[\s([{])@(?:"([^"\n]*)|([^\s"@]*))$/;
const MAX_QUERY = 200;

export function tokenAt(text: string, caret: number): Token | undefined {
  const before = text.slice(0, caret);
  const slash = SLASH.exec(before);
  if (slash !== null) return { kind: "slash", query: slash[1] ?? "", start: 0, end: caret };
  const file = FILE.exec(before.slice(-MAX_QUERY));
  if (file === null) return undefined;
  const query = file[1] ?? file[2] ?? "";
  const length = query.length + (file[1] === undefined ? 1 : 2);
  return { kind: "file", query, start: caret - length, end: caret };
}

/** How a path is named in a message; one with a space in it needs its marks. */
export function mention(path: string, folder: boolean): string {
  const whole = folder ? `${path}/` : path;
  return /\s/.test(whole) ? `@"${whole}"` : `@${whole}`;
}

/** The text with another word in the place of the token, and where the caret is then. */
export function replaced(
  text: string,
  token: Token,
  word: string,
): { text: string; caret: number } {
  const before = text.slice(0, token.start) + word;
  return { text: before + text.slice(token.end), caret: before.length };
}
