/**
 * What this page has to send and does not see in the log yet: shown at once, marked until it is there.
 *
 * A message keeps its name until it is answered, over lost connections and over a reload of the page
 * too, so that it is carried out once. It belongs to its tab: one that is closed takes what never left
 * it along, and nothing is said hours later by a page that somebody opens for another reason.
 */
import type { Content } from "../protocol.gen.ts";
import { Emitter, type Schedule } from "./emitter.ts";

export interface Outgoing {
  readonly request: string;
  readonly session: string;
  readonly content: readonly Content[];
  readonly mode: "auto" | "queue" | "steer";
  /** Whose it is, as far as that was known: nobody else may say it. */
  readonly by?: string;
  /** `queued`: it has not left this page. `sent`: it may have arrived, and nobody has said so yet. */
  readonly state: "queued" | "sent" | "refused";
  /** Why the gateway did not take it, for people. */
  readonly error: string;
  readonly code: string;
  /** What somebody is writing instead of it: until they are done it stays here. */
  readonly instead?: string | undefined;
}

export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** The key of what waits in any session. */
export const ANY = "";
const KEY = "flybridge.outbox";
export const MOST_WAITING = 50;
const MAX_CHARS = 2_000_000; // pictures are kept by digest, so this is a lot of words

export class Outbox {
  readonly emitter: Emitter;
  private all: readonly Outgoing[];

  constructor(
    private readonly shelf: Shelf,
    schedule?: Schedule,
  ) {
    this.emitter = new Emitter(schedule);
    this.all = restored(shelf);
  }

  /** No more is taken: what is in it must not be pushed out by what comes. */
  get full(): boolean {
    return this.all.length >= MOST_WAITING;
  }

  of(session: string): readonly Outgoing[] {
    return this.all.filter((one) => one.session === session);
  }

  /** Everything that still has to be said, the oldest first. */
  waiting(): readonly Outgoing[] {
    return this.all.filter((one) => one.state !== "refused");
  }

  find(request: string): Outgoing | undefined {
    return this.all.find((one) => one.request === request);
  }

  add(one: Outgoing): void {
    this.become([...this.all, one], one.session);
  }

  update(request: string, change: Partial<Outgoing>): void {
    const known = this.find(request);
    if (known === undefined) return;
    const next = this.all.map((one) => (one === known ? { ...one, ...change } : one));
    this.become(next, known.session);
  }

  /** It is in the log, or nobody wants it any more. */
  remove(request: string): void {
    const known = this.find(request);
    if (known === undefined) return;
    this.become(
      this.all.filter((one) => one !== known),
      known.session,
    );
  }

  private become(all: readonly Outgoing[], session: string): void {
    this.all = all;
    this.emitter.touch(session);
    this.emitter.touch(ANY);
    try {
      this.shelf.setItem(KEY, kept(all));
    } catch {
      this.forget();
    }
  }

  /** The browser has no room; then nothing old may lie there: it could be sent once more. */
  private forget(): void {
    try {
      this.shelf.setItem(KEY, "[]");
    } catch {
      // the browser keeps nothing for us; the page still has it
    }
  }
}

/** As many as there is room for, the oldest first. */
function kept(all: readonly Outgoing[]): string {
  const texts: string[] = [];
  let chars = 0;
  for (const one of all) {
    const text = JSON.stringify(one);
    chars += text.length + 1;
    if (chars > MAX_CHARS) break;
    texts.push(text);
  }
  return `[${texts.join(",")}]`;
}

function restored(shelf: Shelf): readonly Outgoing[] {
  try {
    const value: unknown = JSON.parse(shelf.getItem(KEY) ?? "[]");
    return Array.isArray(value) ? (value as Outgoing[]) : [];
  } catch {
    return [];
  }
}
