/**
 * One session as this page knows it: a run of its log without a gap, and what follows from it.
 *
 * Duplicates, overlaps and losses end here: an event whose number is known is passed over, one that
 * comes too early asks for a replay, another epoch starts from nothing. A preview counts deltas.
 */
import type { EventLine, GaugeLine, PreviewLine, SessionView, ViewLine } from "../protocol.gen.ts";
import { Emitter, type Schedule } from "./emitter.ts";
import type { Item, Prompt } from "./items.ts";
import { type Modes, NO_MODES } from "./modes.ts";
import { type Draft, Transcript } from "./reduce.ts";

/** `gap`: what came next is missing; attach again after `last`. */
export type Applied = "ok" | "known" | "gap" | "epoch";

export class SessionStore {
  readonly emitter: Emitter;
  epoch = 0;
  /** The log is held from `first` to `last`, both included; nothing is held while last < first. */
  first = 1;
  last = 0;
  /** The newest event the gateway has, as far as it said so. */
  head = 0;
  view: SessionView | undefined;
  gauges: Readonly<Record<string, unknown>> = {};
  /** True once everything up to `head` has come after attaching. */
  synced = false;
  /** Why it is not followed: a code; "": it is. */
  refused = "";
  /** Counts the changes in how items are put together into lines. */
  shape = 0;
  transcript: Transcript;
  /** Open prompts that were asked before the part of the log that is here. */
  earlier: readonly Prompt[] = [];
  /** What the session's agent publishes about its permission modes. */
  modes: Modes = NO_MODES;
  private events: EventLine[] = [];
  private readonly drafts = new Map<string, Draft>();

  constructor(
    readonly session: string,
    schedule?: Schedule,
  ) {
    this.emitter = new Emitter(schedule);
    this.transcript = this.fresh();
  }

  // ---- what the gateway says ------------------------------------------------------------------

  /** The answer to attach: where the stream goes on. `after`: the last number that will not come. */
  begin(epoch: number, head: number, after: number, reset: boolean): void {
    if (reset || epoch !== this.epoch || after !== this.last) {
      this.drop();
      this.first = after + 1;
      this.last = after;
    }
    this.epoch = epoch;
    this.refused = "";
    this.head = Math.max(head, this.last);
    this.synced = this.last >= head;
    this.emitter.touch("synced");
  }

  /** The gateway does not show it, or not any more. */
  refuse(code: string): void {
    this.refused = code;
    this.emitter.touch("synced");
  }

  event(line: EventLine): Applied {
    if (line.epoch !== this.epoch) return "epoch";
    if (line.seq <= this.last) return "known";
    if (line.seq !== this.last + 1) return "gap";
    this.last = line.seq;
    this.head = Math.max(this.head, line.seq);
    this.events.push(line);
    this.transcript.apply(line);
    this.endDraft(line);
    if (!this.synced && this.last >= this.head) {
      this.synced = true;
      this.emitter.touch("synced");
    }
    return "ok";
  }

  preview(line: PreviewLine): void {
    const known = this.transcript.items.get(line.item);
    if (known === undefined || !isOpen(known)) return;
    const before = this.drafts.get(line.item) ?? { text: "", have: 0, hole: false };
    const draft = grown(before, line);
    if (draft === before) return;
    this.drafts.set(line.item, draft);
    if (!draft.hole) this.transcript.preview(line, draft);
  }

  gauge(line: GaugeLine): void {
    this.gauges = { ...this.gauges, [line.name]: line.value };
    this.emitter.touch("gauges");
  }

  show(line: ViewLine): void {
    this.view = line.state;
    this.gauges = { ...this.gauges, ...line.state.gauges };
    this.emitter.touch("view");
    this.emitter.touch("gauges");
  }

  nameModes(modes: Modes): void {
    if (modes.size === 0) return; // not known yet, or a gateway that does not tell
    this.modes = modes;
    this.emitter.touch("modes");
  }

  /** What the gateway's own list says of prompts; those of the log are known better from there. */
  askedEarlier(prompts: readonly Prompt[]): void {
    this.earlier = prompts;
    this.emitter.touch("prompts");
  }

  /** Older events, up to the one before `first`: the fold begins anew with them. */
  prepend(older: readonly EventLine[]): void {
    const wanted = older.filter((one) => one.epoch === this.epoch && one.seq < this.first);
    const start = contiguousEnd(wanted, this.first - 1);
    const oldest = start[0];
    if (oldest === undefined) return;
    this.first = oldest.seq;
    this.events = [...start, ...this.events];
    this.refold();
  }

  drop(): void {
    this.events = [];
    this.drafts.clear();
    this.first = 1;
    this.last = 0;
    this.synced = false;
    this.refold();
  }

  // ---- what the page reads --------------------------------------------------------------------

  item(id: string): Item | undefined {
    return this.transcript.items.get(id);
  }

  children(parent: string): readonly string[] {
    return this.transcript.children.get(parent) ?? NONE;
  }

  private fresh(): Transcript {
    return new Transcript((key) => {
      if (key.startsWith("shape:")) {
        this.shape += 1;
        this.emitter.touch("shape");
      }
      this.emitter.touch(key);
    });
  }

  private refold(): void {
    const before = this.transcript;
    this.transcript = this.fresh();
    for (const line of this.events) this.transcript.apply(line);
    for (const [item, draft] of this.drafts) {
      this.transcript.preview(
        {
          type: "preview",
          session: this.session,
          item,
          since: 0,
          upto: draft.have,
          text: draft.text,
        },
        draft,
      );
    }
    keepSame(before.items, this.transcript.items);
    this.shape += 1;
    for (const key of [
      "shape",
      "prompts",
      "turn",
      "tasks",
      "background",
      "ready",
      "synced",
      "saying",
    ]) {
      this.emitter.touch(key);
    }
    for (const parent of new Set([...before.children.keys(), ...this.transcript.children.keys()])) {
      this.emitter.touch(`children:${parent}`);
      this.emitter.touch(`shape:${parent}`);
    }
    for (const id of before.items.keys()) this.emitter.touch(`item:${id}`);
  }

  /** The event that closes an item has all of it; a tool's output is counted from 0 again. */
  private endDraft(line: EventLine): void {
    const event = line.event;
    switch (event.type) {
      case "text.done":
      case "thinking.done":
      case "tool.started":
      case "tool.result":
        this.drafts.delete(event.item);
        break;
      case "agent.exited":
        this.drafts.clear();
        break;
      default:
    }
  }
}

const NONE: readonly string[] = [];

/** A preview that begins at 0 replaces, one that fits is added, one that comes too early is a hole. */
function grown(draft: Draft, line: PreviewLine): Draft {
  if (line.since === 0) return { text: line.text, have: line.upto, hole: false };
  if (line.since === draft.have && !draft.hole) {
    return { text: draft.text + line.text, have: line.upto, hole: false };
  }
  return line.upto > draft.have ? { ...draft, hole: true } : draft;
}

function isOpen(item: Item): boolean {
  if (item.kind === "tool") return item.status === "writing" || item.status === "running";
  return (item.kind === "text" || item.kind === "thinking") && item.status === "open";
}

/** The run of events without a gap that ends with number `last`. */
function contiguousEnd(events: readonly EventLine[], last: number): EventLine[] {
  const bySeq = new Map(events.map((one) => [one.seq, one]));
  const found: EventLine[] = [];
  for (let one = bySeq.get(last); one !== undefined; one = bySeq.get(one.seq - 1)) found.push(one);
  return found.toReversed();
}

/** An item that is as it was keeps its identity, so that nothing draws it again. */
function keepSame(before: ReadonlyMap<string, Item>, after: Map<string, Item>): void {
  for (const [id, item] of after) {
    const old = before.get(id);
    if (old !== undefined && same(old, item)) after.set(id, old);
  }
}

function same(a: Item, b: Item): boolean {
  const left = a as unknown as Record<string, unknown>;
  const right = b as unknown as Record<string, unknown>;
  return Object.keys(right).every((key) => sameValue(left[key], right[key]));
}

function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, at) => Object.is(one, b[at]));
  }
  return false;
}
