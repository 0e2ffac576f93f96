/** The sessions that are open on this page: attached, attached again, and paged backwards. */
import type { Link } from "../link/link.ts";
import type { EventLine, GatewayMessage } from "../protocol.gen.ts";
import type { Schedule } from "./emitter.ts";
import { SessionStore } from "./session.ts";
import { fieldsOf, listOf, numberOf } from "./values.ts";

/** Events that are fetched when a session is opened. */
export const PAGE = 400;
/** Events of an older page: all of them are drawn in one task, while somebody scrolls. */
const OLDER = 160;
/** Closed pages stay in memory, so that going back is quick: so many. */
const MAX_KEPT = 12;
const MAX_STEPS = 8;
const PAGE_BYTES = 1 << 20;

export class Following {
  private readonly stores = new Map<string, SessionStore>();
  private readonly wanted = new Map<string, number>();
  private readonly attaching = new Set<string>();
  private readonly paging = new Set<string>();

  constructor(
    private readonly link: Link,
    private readonly schedule?: Schedule,
  ) {}

  store(session: string): SessionStore {
    const known = this.stores.get(session);
    if (known !== undefined) return known;
    const made = new SessionStore(session, this.schedule);
    this.stores.set(session, made);
    return made;
  }

  /** Follow a session while somebody looks at it; call what is returned to stop. */
  follow(session: string): () => void {
    const store = this.store(session);
    this.stores.delete(session); // the newest last
    this.stores.set(session, store);
    this.wanted.set(session, (this.wanted.get(session) ?? 0) + 1);
    if (this.link.state === "online") this.attach(session);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (this.wanted.get(session) ?? 1) - 1;
      if (left > 0) {
        this.wanted.set(session, left);
        return;
      }
      this.wanted.delete(session);
      store.synced = false;
      this.link.detach(session);
      this.forgetOld();
    };
  }

  /** The connection is back: go on where each session was. */
  again(): void {
    this.attaching.clear();
    for (const session of this.wanted.keys()) this.attach(session);
  }

  lost(): void {
    for (const session of this.wanted.keys()) {
      const store = this.store(session);
      store.synced = false;
      store.emitter.touch("synced");
    }
  }

  message(message: GatewayMessage): void {
    if (!("session" in message)) return;
    const store = this.stores.get(message.session);
    if (store === undefined || !this.wanted.has(message.session)) return;
    switch (message.type) {
      case "event": {
        const applied = store.event(message);
        if (applied === "gap" || applied === "epoch") this.attach(message.session);
        break;
      }
      case "preview":
        store.preview(message);
        break;
      case "gauge":
        store.gauge(message);
        break;
      case "view":
        store.show(message);
        break;
      case "detached":
        store.refuse(message.code ?? "detached");
        break;
      default:
    }
  }

  /** Fetch what stands before the oldest event that is here. */
  async older(session: string): Promise<void> {
    const store = this.store(session);
    if (store.first <= 1 || this.paging.has(session)) return;
    this.paging.add(session);
    try {
      const end = store.first - 1;
      const epoch = store.epoch;
      const found: EventLine[] = [];
      let after = Math.max(0, end - OLDER);
      for (let step = 0; step < MAX_STEPS && after < end; step += 1) {
        const value = fieldsOf(
          await this.link.ask("page", { session, after, max_bytes: PAGE_BYTES }),
        );
        const events = listOf(value["events"]) as unknown as EventLine[];
        if (numberOf(value["epoch"]) !== epoch || events.length === 0) break;
        found.push(...events);
        after = events[events.length - 1]?.seq ?? end;
      }
      store.prepend(found);
    } finally {
      this.paging.delete(session);
    }
  }

  private attach(session: string): void {
    if (this.attaching.has(session)) return;
    this.attaching.add(session);
    const store = this.store(session);
    const known = store.last >= store.first;
    this.link.attach(
      known ? { session, epoch: store.epoch, after: store.last } : { session, last: PAGE },
      (reply) => {
        this.attaching.delete(session);
        const value = fieldsOf(reply.value);
        const head = numberOf(value["head"]);
        const reset = value["reset"] === true;
        // what we asked to go on with, all of it in another epoch, or its last page
        const after = known ? (reset ? 0 : store.last) : Math.max(0, head - PAGE);
        store.begin(numberOf(value["epoch"]), head, after, reset);
      },
      (error) => {
        this.attaching.delete(session);
        if (error.code !== "offline") store.refuse(error.code);
      },
    );
  }

  private forgetOld(): void {
    for (const session of [...this.stores.keys()]) {
      if (this.stores.size <= MAX_KEPT) return;
      if (!this.wanted.has(session)) this.stores.delete(session);
    }
  }
}
