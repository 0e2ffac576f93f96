import { expect, test } from "vitest";
import { rowOf } from "./rows.ts";
import { SeenAlarms, unseen } from "./seen-alarms.ts";

class Kept {
  readonly all = new Map<string, string>();
  getItem(key: string): string | null {
    return this.all.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.all.set(key, value);
  }
  removeItem(key: string): void {
    this.all.delete(key);
  }
}

const now = (run: () => void): void => run();
const row = (session: string, seq: number, changed_ms = 0): ReturnType<typeof rowOf> =>
  rowOf({ session, changed_ms, alarm: { seq, text: "t", advice: "a" } });

test("web a01: an alarm is unseen until it is dismissed, also after the page was loaded again", () => {
  const storage = new Kept();
  const alarms = new SeenAlarms(storage, now);
  const rows = [row("one", 5, 1), row("two", 3, 2), rowOf({ session: "three" })];
  expect(unseen(rows, alarms.seen).map((found) => found.session)).toEqual(["two", "one"]);
  alarms.dismiss(row("two", 3));
  expect(unseen(rows, alarms.seen).map((found) => found.session)).toEqual(["one"]);
  const again = new SeenAlarms(storage, now);
  expect(unseen(rows, again.seen).map((found) => found.session)).toEqual(["one"]);
  expect(unseen([row("two", 9)], again.seen)).toHaveLength(1); // a later one is another one
});

test("what the browser kept and cannot be read is nothing seen", () => {
  const storage = new Kept();
  storage.setItem("flybridge.alarms", "{");
  expect(unseen([row("one", 1)], new SeenAlarms(storage, now).seen)).toHaveLength(1);
  storage.setItem("flybridge.alarms", "[1]");
  expect(unseen([row("one", 1)], new SeenAlarms(storage, now).seen)).toHaveLength(1);
});
