/** Where one line of markdown must begin a new block, told from the lines alone. */

import { firstWord } from "./lex.ts";

/** An open fence at the top of a text: what opened it, and what it says about itself. */
export interface Fence {
  readonly marker: string;
  readonly indent: number;
  readonly lang: string;
}

const HEADING = /^#{1,6}(?:[ \t]|$)/;
const ITEM = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

export function fenceOf(line: string): Fence | null {
  const found = FENCE.exec(line);
  if (found === null) return null;
  const [, indent = "", marker = "", info = ""] = found;
  return { marker, indent: indent.length, lang: firstWord(info) };
}

export function endsFence(line: string, { marker }: Fence): boolean {
  const rest = line.replace(/^ {0,3}/, "");
  return rest.startsWith(marker) && /^[`~]* *$/.test(rest.slice(marker.length));
}

/** A line of a fence, without the indent of the fence itself. */
export function fenced(line: string, { indent }: Fence): string {
  let cut = 0;
  while (cut < indent && line[cut] === " ") cut += 1;
  return line.slice(cut);
}

/** What must be known of the lines since the last boundary. */
export class Segment {
  #text = "";
  #items = false;
  #afterBlank = false;
  /** An indented fence below an item: only the lexer can tell whose it is. */
  doubtful = false;

  get text(): string {
    return this.#text;
  }

  get empty(): boolean {
    return this.#text === "";
  }

  /** Whether what stands here is over and this line begins something else. */
  endsBefore(line: string): boolean {
    if (this.empty) return false;
    if (HEADING.test(line)) return true;
    const fence = fenceOf(line);
    if (fence !== null) return fence.indent === 0 || !this.#items;
    if (!this.#afterBlank || /^\s/.test(line)) return false;
    return !(this.#items && ITEM.test(line));
  }

  add(line: string): void {
    const blank = line.trim() === "";
    if (blank && this.empty) return;
    this.#text += `${line}\n`;
    this.#afterBlank = blank;
    if (ITEM.test(line)) this.#items = true;
    else if (this.#items && fenceOf(line) !== null) this.doubtful = true;
  }
}
