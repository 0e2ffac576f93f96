/**
 * What is left on a terminal's screen: returns, backspaces and erased lines are carried out.
 *
 * Only one line at a time is a screen here. Sequences that move between lines, set titles or talk
 * to the terminal are dropped; of all sequences only those for colours stay.
 */

/** A cursor can be sent this far behind the end of a line, not farther. */
const FARTHEST = 512;
const STYLE_LIMIT = 96;

// A sequence for colours and its kind, other sequences, or one character.
// An unended string sequence loses only its start: it must not hide what follows.
const SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]{0,2048}(?:\u0007|\u001b\\)|\u001b(?:\[[0-?]*$|[ -/]*[0-~])?/g;
// oxlint-disable-next-line no-control-regex
const ACTS = /[\b\r]|\u001b\[[0-?]*[ -/]*[C-GKP]/;

/** A text with nothing but letters, line ends and colour sequences. */
export function onScreen(text: string): string {
  const lines = text.replaceAll("\r\n", "\n");
  return ACTS.test(lines) ? new Screen().show(lines) : lines.replace(SEQUENCE, onlyColours);
}

function onlyColours(whole: string, _params: string | undefined, kind: string | undefined): string {
  return kind === "m" ? whole : "";
}

class Screen {
  #done: string[] = [];
  #letters: string[] = [];
  #styles: string[] = [];
  #at = 0;
  #style = "";

  show(text: string): string {
    let from = 0;
    for (const found of text.matchAll(SEQUENCE)) {
      this.#write(text.slice(from, found.index));
      this.#act(found[1] ?? "", found[2] ?? "");
      from = found.index + found[0].length;
    }
    this.#write(text.slice(from));
    this.#end();
    return this.#done.join("\n");
  }

  #write(text: string): void {
    for (const letter of text) {
      if (letter === "\n") this.#end();
      else if (letter === "\r") this.#at = 0;
      else if (letter === "\b") this.#at = Math.max(0, this.#at - 1);
      else this.#put(letter);
    }
  }

  #put(letter: string): void {
    while (this.#letters.length < this.#at) this.#set(this.#letters.length, " ", "");
    this.#set(this.#at, letter, this.#style);
    this.#at += 1;
  }

  #set(at: number, letter: string, style: string): void {
    this.#letters[at] = letter;
    this.#styles[at] = style;
  }

  #act(params: string, kind: string): void {
    const count = Math.max(1, parseInt(params, 10) || 1);
    if (kind === "m") this.#colour(params);
    else if (kind === "K") this.#erase(params);
    else if (kind === "G") this.#go(count - 1);
    else if (kind === "C") this.#go(this.#at + count);
    else if (kind === "D") this.#go(this.#at - count);
  }

  #go(at: number): void {
    this.#at = Math.min(Math.max(0, at), this.#letters.length + FARTHEST);
  }

  #colour(params: string): void {
    const sequence = `\u001b[${params}m`;
    const fresh = params === "" || params === "0" || params.startsWith("0;");
    const longer = fresh ? sequence : this.#style + sequence;
    this.#style = longer.length > STYLE_LIMIT ? sequence : longer;
  }

  #erase(params: string): void {
    const end = params === "1" ? this.#at + 1 : this.#letters.length;
    const start = params === "" || params === "0" ? this.#at : 0;
    for (let at = start; at < Math.min(end, this.#letters.length); at += 1) this.#set(at, " ", "");
    if (end >= this.#letters.length) this.#cut(start);
  }

  #cut(length: number): void {
    if (length >= this.#letters.length) return;
    this.#letters.length = length;
    this.#styles.length = length;
  }

  #end(): void {
    let line = "";
    let style = "";
    this.#letters.forEach((letter, at) => {
      const next = this.#styles[at] ?? "";
      if (next !== style) line += `\u001b[0m${next}`;
      style = next;
      line += letter;
    });
    this.#done.push(style === "" ? line : `${line}\u001b[0m`);
    this.#letters = [];
    this.#styles = [];
    this.#at = 0;
  }
}
