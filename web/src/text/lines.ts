/** Texts that come in pieces, as lines: line ends are one character, controls can be seen. */

import { printable } from "./control.ts";

/** Cuts pieces into whole lines. How a text was cut into pieces makes no difference. */
export class LineCutter {
  /** The line that has not ended yet. */
  partial = "";
  #heldReturn = false;

  /** The lines that this piece ends, without their ends. */
  take(piece: string): readonly string[] {
    if (piece === "") return [];
    const whole = this.#heldReturn ? `\r${piece}` : piece;
    // A return at the end may be half of a line end whose other half comes next.
    this.#heldReturn = whole.endsWith("\r");
    const text = this.#heldReturn ? whole.slice(0, -1) : whole;
    const lines = printable(text.replace(/\r\n?/g, "\n")).split("\n");
    lines[0] = this.partial + (lines[0] ?? "");
    this.partial = lines.pop() ?? "";
    return lines;
  }

  /** What is left when nothing more comes. */
  finish(): readonly string[] {
    const held = this.#heldReturn;
    this.#heldReturn = false;
    const last = this.partial;
    this.partial = "";
    return held || last !== "" ? [last] : [];
  }
}
