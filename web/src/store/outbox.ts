/**
 * What this page has sent and does not see in the log yet: shown at once, marked until it is there.
 *
 * A message keeps its name until it is answered, over lost connections and over a reload of the page
 * too, so that it is carried out once.
 */
import type { Content } from "../protocol.gen.ts";
import { Emitter, type Schedule } from "./emitter.ts";

export interface Outgoing {
  readonly request: string;
  readonly session: string;
  readonly content: readonly Content[];
  readonly mode: "auto" | "queue" | "steer";
  readonly state: "queued" | "sent" | "refused";
  /** Why the gateway did not take it, for people. */
  readonly error: string;
  readonly code: string;
}

export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

const KEY = "flybridge.outbox";
const MAX_KEPT = 50;
const MAX_BYTES = 1_000_000; // pictures are kept by digest, so this is a lot of words

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
    this.become([...this.all, one].slice(-MAX_KEPT), one.session);
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
    const text = JSON.stringify(all);
    try {
      if (text.length <= MAX_BYTES) this.shelf.setItem(KEY, text);
    } catch {
      // the browser keeps nothing for us; the page still has it
    }
  }
}

function restored(shelf: Shelf): readonly Outgoing[] {
  try {
    const value: unknown = JSON.parse(shelf.getItem(KEY) ?? "[]");
    return Array.isArray(value) ? (value as Outgoing[]) : [];
  } catch {
    return [];
  }
}
