/** The colours of a piece of code that may still grow. Each finished line is coloured once. */

/** One line: how many letters, of which kind, and so on. Plain letters at its end are left out. */
export type LineColours = readonly number[];

/** A run of letters of one kind. */
export interface Run {
  readonly text: string;
  readonly kind: number;
}

/** A longer line, or a longer text, is not coloured. */
export const LINE_LIMIT = 1000;
export const CODE_LIMIT = 256 * 1024;

/** Where finished lines are sent to: they follow those that were sent before. */
export type SendLines = (lines: readonly string[], last: boolean) => void;

export class FenceColours {
  #sent = 0; // letters of the text that went out, line ends included
  #asked = 0; // lines
  #text = "";
  #ended = false;
  #lines: readonly LineColours[] = [];
  #listeners = new Set<() => void>();

  constructor(private readonly send: SendLines) {}

  /** The lines that have colours so far; the same array until there are more. */
  get lines(): readonly LineColours[] {
    return this.#lines;
  }

  /** Whether the text is finished. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the text is finished and all of it has its colours. */
  get complete(): boolean {
    return this.#ended && this.#lines.length === this.#asked;
  }

  /** Whether a text is what was seen so far, or more of it. */
  continues(text: string): boolean {
    return text.startsWith(this.#text) && (!this.#ended || text === this.#text);
  }

  /** Shows the text as it is now. `ended`: its last line is finished too. */
  update(text: string, ended: boolean): void {
    if (this.#ended || text.length > CODE_LIMIT) return;
    this.#text = text;
    this.#ended = ended;
    // The text of an ended fence has no line end of its own.
    const upto = ended ? text.length + 1 : text.lastIndexOf("\n") + 1;
    if (upto <= this.#sent) return;
    const lines = text.slice(this.#sent, upto - 1).split("\n");
    this.#sent = upto;
    this.#asked += lines.length;
    this.send(lines, ended);
  }

  /** Takes the colours of the next lines. */
  receive(lines: readonly LineColours[]): void {
    this.#lines = [...this.#lines, ...lines];
    for (const tell of this.#listeners) tell();
  }

  subscribe(tell: () => void): () => void {
    this.#listeners.add(tell);
    return () => this.#listeners.delete(tell);
  }
}

/** A line as runs; without colours it is one plain run. */
export function runsOf(line: string, colours: LineColours | undefined): readonly Run[] {
  const runs: Run[] = [];
  let at = 0;
  for (let place = 0; colours !== undefined && place < colours.length; place += 2) {
    const end = at + (colours[place] ?? 0);
    runs.push({ text: line.slice(at, end), kind: colours[place + 1] ?? 0 });
    at = end;
  }
  if (at < line.length) runs.push({ text: line.slice(at), kind: 0 });
  return runs;
}
