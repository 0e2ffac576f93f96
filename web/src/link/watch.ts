/**
 * Whether anybody is still at the other end.
 *
 * A connection can die without a word: a phone sleeps, a network changes, a proxy forgets. The browser
 * finds that out after minutes, and a page cannot see the pings of a socket. So the gateway is asked for
 * a sign of life when it was quiet for long, when somebody wants something of it, and when somebody comes
 * back to the page. Anything it says will do.
 */
export interface Watched {
  /** Ask for a sign of life. */
  ping(): void;
  /** Bytes that the browser holds: while they get fewer, somebody takes them. */
  unsent(): number;
  /** Nobody is there any more. */
  lost(): void;
}

/** Quiet for so long: is anybody there? */
export const QUIET_MS = 10_000;
/** So long may an answer take, on a slow line too. */
export const ANSWER_MS = 5_000;
/** The same for somebody who just came back to the page, and for whom a new connection is as quick. */
export const WAKE_MS = 700;
/** It is never quiet for so long on a page that runs: this one slept, and so did its connection. */
export const ASLEEP_MS = 25_000;
/** What was heard so shortly ago was said by somebody who is there. */
const FRESH_MS = 500;
/** Bytes in a millisecond, on the slowest line we think of: so long may a message be on its way. */
const SLOWEST = 20;
/** It is looked after so often. If it was not for so much longer, everything stood still meanwhile. */
const TICK_MS = 2_000;
const LATE_MS = 3_000;

export class Watch {
  private heardMs = 0;
  private tickMs = 0;
  /** When a sign of life is due; 0: none was asked for. */
  private dueMs = 0;
  private unsent = 0;
  /** Bytes that were said since something was heard. */
  private unheard = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly watched: Watched) {}

  begin(): void {
    this.heard();
    this.tick(TICK_MS);
  }

  end(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  heard(): void {
    this.heardMs = Date.now();
    this.dueMs = 0;
    this.unheard = 0;
  }

  said(bytes: number): void {
    this.unheard += bytes;
  }

  /** Somebody wants something: it is time to know whether it can be had. */
  wanted(): void {
    if (this.timer !== undefined && this.quietMs() > FRESH_MS) this.ask(ANSWER_MS);
  }

  /** Somebody is back, or the network is. */
  woke(): void {
    if (this.timer === undefined) return;
    if (this.quietMs() >= ASLEEP_MS) this.watched.lost();
    else this.ask(WAKE_MS);
  }

  private quietMs(): number {
    const now = Date.now();
    if (now < this.heardMs) this.heardMs = now; // the clock was set back
    return now - this.heardMs;
  }

  private ask(withinMs: number): void {
    const now = Date.now();
    const due = now + withinMs + Math.round(this.unheard / SLOWEST);
    const first = this.dueMs === 0;
    this.dueMs = first ? due : Math.min(this.dueMs, due);
    this.tick(Math.min(TICK_MS, this.dueMs - now));
    if (!first) return;
    this.watched.ping();
    this.unsent = this.watched.unsent();
  }

  private tick(inMs: number): void {
    clearTimeout(this.timer);
    this.tickMs = Date.now() + inMs;
    this.timer = setTimeout(() => this.look(), Math.max(0, inMs));
  }

  private look(): void {
    const now = Date.now();
    const stoodStill = now > this.tickMs + LATE_MS;
    this.tick(TICK_MS);
    if (this.dueMs > 0 && now >= this.dueMs) this.overdue();
    else if (this.dueMs > 0) this.tick(Math.min(TICK_MS, this.dueMs - now));
    else if (stoodStill) this.woke();
    else if (this.quietMs() >= QUIET_MS) this.ask(ANSWER_MS);
  }

  /** Nothing was heard; but a long message may still be leaving, with our question behind it. */
  private overdue(): void {
    const left = this.watched.unsent();
    const moves = left > 0 && left < this.unsent;
    this.unsent = left;
    if (moves) this.dueMs = Date.now() + ANSWER_MS;
    else this.watched.lost();
  }
}
