/** Which alarms somebody has seen in this browser: of each session the number of the latest. */
import { Emitter, type Schedule } from "./emitter.ts";
import type { Shelf } from "./outbox.ts";
import type { Row } from "./rows.ts";
import { fieldsOf, numberOf } from "./values.ts";

const KEY = "flybridge.alarms";
const MOST = 200;

export class SeenAlarms {
  readonly emitter: Emitter;
  /** Replaced whole whenever it changes. */
  seen: Readonly<Record<string, number>>;

  constructor(
    private readonly storage: Shelf,
    schedule?: Schedule,
  ) {
    this.emitter = new Emitter(schedule);
    this.seen = this.load();
  }

  /** Remember that somebody has seen the latest alarm of a session. */
  dismiss(row: Row): void {
    if (row.alarm === undefined) return;
    const rest = Object.entries(this.seen).filter(([session]) => session !== row.session);
    this.seen = Object.fromEntries([...rest, [row.session, row.alarm.seq] as const].slice(-MOST));
    try {
      this.storage.setItem(KEY, JSON.stringify(this.seen));
    } catch {
      // the browser keeps nothing for us: it is seen until the page is loaded again
    }
    this.emitter.touch("seen");
  }

  private load(): Readonly<Record<string, number>> {
    try {
      const kept = fieldsOf(JSON.parse(this.storage.getItem(KEY) ?? "{}"));
      return Object.fromEntries(
        Object.entries(kept).map(([session, seq]) => [session, numberOf(seq)] as const),
      );
    } catch {
      return {};
    }
  }
}

/** The sessions whose latest alarm nobody has seen, the newest change first. */
export function unseen(rows: readonly Row[], seen: Readonly<Record<string, number>>): Row[] {
  return rows
    .filter((row) => row.alarm !== undefined && row.alarm.seq > (own(seen, row.session) ?? 0))
    .toSorted((one, other) => other.changedMs - one.changedMs);
}

function own(seen: Readonly<Record<string, number>>, session: string): number | undefined {
  return Object.hasOwn(seen, session) ? seen[session] : undefined;
}
