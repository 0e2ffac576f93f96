/** What is written and not sent: kept for as long as the tab is open, over reloads too. */
import type { Shelf } from "../store/outbox.ts";

const MAX_CHARS = 1_000_000;

export class Drafts<T> {
  constructor(
    private readonly shelf: Shelf,
    private readonly kind: string,
    private readonly read: (value: unknown) => T | undefined,
  ) {}

  get(id: string): T | undefined {
    try {
      const text = this.shelf.getItem(this.key(id)) ?? "";
      return text === "" ? undefined : this.read(JSON.parse(text));
    } catch {
      return undefined;
    }
  }

  /** undefined forgets it. What is too large for the browser is kept by the page alone. */
  set(id: string, value: T | undefined): void {
    try {
      const text = value === undefined ? "" : JSON.stringify(value);
      this.shelf.setItem(this.key(id), text.length > MAX_CHARS ? "" : text);
    } catch {
      // the browser keeps nothing for us; the page still has it
    }
  }

  private key(id: string): string {
    return `flybridge.${this.kind}:${id}`;
  }
}
