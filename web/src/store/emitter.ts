/**
 * Tells who asked for it that something changed: at once in the state, once a frame on the screen.
 *
 * A key names one thing that can be looked at alone (an item, the order of items, the view), so
 * that a delta of one text re-renders that text and nothing else.
 */
import { frames } from "./frames.ts";

export type Unsubscribe = () => void;
export type Schedule = (run: () => void) => void;

export class Emitter {
  private readonly listeners = new Map<string, Set<() => void>>();
  private readonly dirty = new Set<string>();
  private scheduled = false;

  constructor(private readonly schedule: Schedule = frames.schedule) {}

  subscribe(key: string, listener: () => void): Unsubscribe {
    let set = this.listeners.get(key);
    if (set === undefined) {
      set = new Set();
      this.listeners.set(key, set);
    }
    set.add(listener);
    return () => {
      set.delete(listener);
      if (set.size === 0 && this.listeners.get(key) === set) this.listeners.delete(key);
    };
  }

  touch(key: string): void {
    this.dirty.add(key);
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => this.flush());
  }

  /** Tell everybody now; a frame does it, and tests. */
  flush(): void {
    this.scheduled = false;
    const keys = [...this.dirty];
    this.dirty.clear();
    for (const key of keys) {
      for (const listener of [...(this.listeners.get(key) ?? [])]) listener();
    }
  }
}
