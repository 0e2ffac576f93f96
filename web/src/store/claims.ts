/**
 * What became of messages that waited for a connection, where every tab of this browser sees it.
 *
 * A tab can be copied, and what waits in it with it. Sent by both it is carried out once, because it
 * has one name; but what was taken back in one must not be sent by the other. The first one decides.
 */
import type { Shelf } from "./outbox.ts";

export type Fate = "sent" | "taken";

const KEY = "flybridge.claims";
const MOST = 200;

export class Claims {
  constructor(private readonly cupboard: Shelf) {}

  /** Whether this is what becomes of it. */
  claim(request: string, fate: Fate): boolean {
    const all = this.all();
    const known = all.find(([name]) => name === request);
    if (known !== undefined) return known[1] === fate;
    this.keep([...all, [request, fate]]);
    return true;
  }

  /** It was refused: everything can become of it again. */
  forget(request: string): void {
    const all = this.all();
    const rest = all.filter(([name]) => name !== request);
    if (rest.length < all.length) this.keep(rest);
  }

  private keep(all: readonly [string, Fate][]): void {
    try {
      this.cupboard.setItem(KEY, JSON.stringify(all.slice(-MOST)));
    } catch {
      // the browser keeps nothing for us, and so it copies nothing
    }
  }

  private all(): readonly [string, Fate][] {
    try {
      const value: unknown = JSON.parse(this.cupboard.getItem(KEY) ?? "[]");
      return Array.isArray(value) ? (value as [string, Fate][]) : [];
    } catch {
      return [];
    }
  }
}
