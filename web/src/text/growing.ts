/** Follows a text that is always given whole, and reads only what is new of it. */

import { LiveMarkdown } from "./blocks.ts";
import type { Block } from "./tree.ts";

export class GrowingText {
  #text = "";
  #live = true;
  #markdown = new LiveMarkdown();

  /** The groups of blocks of a text. A text that is not more of the last one is read anew. */
  show(text: string, live: boolean): readonly (readonly Block[])[] {
    const same = text === this.#text && live === this.#live;
    if (!same && (!this.#live || !text.startsWith(this.#text))) this.#restart();
    this.#markdown.append(this.#live ? text.slice(this.#text.length) : "");
    this.#text = text;
    this.#live = live;
    if (!live) this.#markdown.finish();
    return this.#markdown.shown;
  }

  #restart(): void {
    this.#text = "";
    this.#live = true;
    this.#markdown = new LiveMarkdown();
  }
}
