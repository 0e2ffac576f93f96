/** Earlier messages, brought back with the arrow keys: the newest first, no text twice in a row. */
import type { Content } from "../protocol.gen.ts";
import type { SessionStore } from "../store/session.ts";

const MOST = 100;

export function textIn(content: readonly Content[]): string {
  return content
    .flatMap((one) => (one.type === "text" ? [one.text] : []))
    .join("\n")
    .trim();
}

/** A message in one line: its words, and how much goes with them. */
export function headOf(content: readonly Content[] | undefined): string {
  if (content === undefined) return "";
  const rest = content.filter((one) => one.type !== "text").length;
  const more = rest === 0 ? "" : rest === 1 ? "1 attachment" : `${rest} attachments`;
  return [textIn(content), more].filter((one) => one !== "").join(" · ");
}

export function said(store: SessionStore): readonly string[] {
  const found: string[] = [];
  for (const id of store.children("").toReversed()) {
    if (found.length >= MOST) break;
    const item = store.item(id);
    if (item?.kind !== "user") continue;
    const text = textIn(item.content);
    if (text !== "" && text !== found.at(-1)) found.push(text);
  }
  return found;
}

/** Where somebody is among them; -1: at what they are writing now. */
export class Recall {
  private all: readonly string[] = [];
  private at = -1;

  /** The one before, or undefined if there is none. `all`: what was said, if this is the first step. */
  older(all: () => readonly string[]): string | undefined {
    if (this.at === -1) this.all = all();
    if (this.at + 1 >= this.all.length) return undefined;
    this.at += 1;
    return this.all[this.at];
  }

  /** The one after; "" after the newest. */
  newer(): string | undefined {
    if (this.at === -1) return undefined;
    this.at -= 1;
    return this.at === -1 ? "" : this.all[this.at];
  }

  /** Whether this is what was brought back, as it was. */
  shows(text: string): boolean {
    return this.at >= 0 && this.all[this.at] === text;
  }

  leave(): void {
    this.at = -1;
  }
}
