/** Texts too long to be shown at once: their beginning and their end. */

/** A longer text is shown in part until somebody asks for all of it. */
export const LONG = 64 * 1024;

export interface Ends {
  readonly head: string;
  readonly tail: string;
  /** Letters that are left out between them. */
  readonly hidden: number;
}

/** The two ends of a long text, cut at lines where there are any; null: it is short enough. */
export function endsOf(text: string, limit = LONG): Ends | null {
  if (text.length <= limit) return null;
  const half = Math.floor(limit / 2);
  const cut = text.lastIndexOf("\n", half);
  const head = text.slice(0, cut > half / 2 ? cut : whole(text, half));
  const from = text.length - half;
  const next = text.indexOf("\n", from);
  const tail = text.slice(next >= 0 && next < from + half / 2 ? next + 1 : whole(text, from));
  return { head, tail, hidden: text.length - head.length - tail.length };
}

/** A letter of two halves is not cut apart. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** "640 KB", "1.2 MB". */
export function sizeText(letters: number): string {
  if (letters < 1024) return `${letters} bytes`;
  const kilo = letters / 1024;
  return kilo < 1024 ? `${Math.round(kilo)} KB` : `${(kilo / 1024).toFixed(1)} MB`;
}
