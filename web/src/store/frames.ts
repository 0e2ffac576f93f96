/**
 * Once a frame, for everybody who has something to show.
 *
 * What is shown costs script, style, layout and paint. Where that takes more than its share of a
 * frame, every second frame is left to whoever types or scrolls: text that comes thirty times a second
 * looks the same, a key that has to wait does not. A hidden tab has no frames; there a timer does it.
 */
export interface Clock {
  readonly visible: () => boolean;
  readonly frame: (run: () => void) => void;
  readonly later: (run: () => void, ms: number) => () => void;
  readonly nowMs: () => number;
}

/** Half of a frame: as much is left for everything else. */
export const BUDGET_MS = 8;
/** Without a frame for so long there will be none: the tab is hidden, or its window is covered. */
export const HIDDEN_MS = 250;

export class Frames {
  private runs: (() => void)[] = [];
  private round = 0;
  private costly = false;
  /** When it was last shown, until it is known what that took. */
  private began: number | null = null;

  constructor(private readonly clock: Clock) {}

  readonly schedule = (run: () => void): void => {
    this.runs.push(run);
    if (this.runs.length > 1) return;
    this.round += 1;
    const round = this.round;
    const stop = this.clock.later(() => this.run(round), HIDDEN_MS);
    if (!this.clock.visible()) return;
    const shown = (): void => {
      stop();
      this.run(round);
    };
    this.clock.frame(this.costly ? () => this.clock.frame(shown) : shown);
  };

  /** The tab is shown again: its timers may have been slowed down to one a minute. */
  readonly shown = (): void => this.run(this.round);

  /**
   * A task runs: what was shown last is painted. A key says so, too: after it a browser holds back
   * timers until the next paint, and that wait is nothing that showing took.
   */
  readonly painted = (): void => {
    if (this.began === null) return;
    this.costly = this.clock.nowMs() - this.began > BUDGET_MS;
    this.began = null;
  };

  private run(round: number): void {
    // the frame and the timer may both come
    if (round !== this.round || this.runs.length === 0) return;
    const runs = this.runs;
    this.runs = [];
    this.began = this.clock.nowMs();
    this.clock.later(this.painted, 0); // a task of its own comes after the paint
    for (const one of runs) one();
  }
}

export const frames = new Frames({
  visible: () => typeof document !== "undefined" && document.visibilityState === "visible",
  frame: (run) => requestAnimationFrame(run),
  later: (run, ms) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  nowMs: () => performance.now(),
});
if (typeof document !== "undefined") {
  document.addEventListener("visibilitychange", frames.shown);
  for (const name of ["keydown", "keyup", "pointerdown", "pointerup"]) {
    document.addEventListener(name, frames.painted, { capture: true, passive: true });
  }
}
