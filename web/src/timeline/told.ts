/**
 * What went wrong is told once, where it happened. An agent says it several times over: each new
 * try, the failure, a limit beside it, and again at the end of the turn.
 */
import type { Item, NoteItem } from "../store/items.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import type { Entry, Line } from "./entries.ts";

type Get = (id: string) => Item | undefined;

/** Lines of a turn that are looked at for one that says the same. */
const LOOK_BACK = 32;

/** Adds a line to those before it, which may become fewer, or say less. */
export function tell(entries: Entry[], item: Item, get: Get): void {
  const line: Line = { kind: "item", id: item.id, seq: item.seq };
  if (item.kind === "result") entries.push(endOf(entries, line, item.message, get));
  else if (item.kind === "note") note(entries, line, item, get);
  else entries.push(line);
}

function note(entries: Entry[], line: Line, item: NoteItem, get: Get): void {
  const before = itemOf(entries.at(-1), get);
  switch (item.note) {
    case "compaction":
      // its beginning is worth a line until its end is known
      if (item.text !== "started" && isNote(before, "compaction") && before.text === "started")
        entries.pop();
      break;
    case "retry":
      if (isNote(before, "retry")) entries.pop();
      break;
    case "rate_limit":
      if (isReached(item) && addLimit(entries, item.id, get)) return;
      break;
    case "error":
      if (find(entries, get, (one) => isNote(one, "error") && one.text === item.text) >= 0) return;
      entries.push(codeOf(item) === "rate_limit" ? takeLimit(entries, line, get) : line);
      return;
    case "lost":
      if (isNote(before, "error") && before.text === item.text) entries.pop();
      break;
    case "exited":
      if (isNote(before, "lost")) return; // which says how it goes on
      if (before?.kind === "result" && before.reason === "agent_exited") markTold(entries);
      break;
    default:
  }
  entries.push(line);
}

/** Whether the card of a failure says it, from now on. */
function addLimit(entries: Entry[], limit: string, get: Get): boolean {
  const at = find(entries, get, (one) => isNote(one, "error") && codeOf(one) === "rate_limit");
  const card = entries[at];
  if (card?.kind !== "item") return false;
  entries[at] = { ...card, limit };
  return true;
}

function takeLimit(entries: Entry[], line: Line, get: Get): Line {
  const at = find(entries, get, (one) => isNote(one, "rate_limit") && isReached(one));
  const [limit] = at < 0 ? [] : entries.splice(at, 1);
  return limit === undefined ? line : { ...line, limit: limit.id };
}

/** The end of a turn repeats no words that a card above it says. Either may have been cut. */
function endOf(entries: readonly Entry[], line: Line, message: string, get: Get): Line {
  const same = (one: Item): boolean => isSaid(message, one);
  return message !== "" && find(entries, get, same) >= 0 ? { ...line, told: true } : line;
}

/** Whether this is the card of a failure, and these are its words. */
export function isSaid(message: string, item: Item): boolean {
  return (
    isNote(item, "error") &&
    item.text !== "" &&
    (item.text.startsWith(message) || message.startsWith(item.text))
  );
}

function markTold(entries: Entry[]): void {
  const last = entries.pop();
  if (last !== undefined) entries.push(last.kind === "item" ? { ...last, told: true } : last);
}

/** Where such a line of the same turn is; -1: nowhere. */
function find(entries: readonly Entry[], get: Get, is: (item: Item) => boolean): number {
  const first = Math.max(0, entries.length - LOOK_BACK);
  for (let at = entries.length - 1; at >= first; at -= 1) {
    const item = itemOf(entries[at], get);
    if (item?.kind === "result" || item?.kind === "user") return -1;
    if (item !== undefined && is(item)) return at;
  }
  return -1;
}

function itemOf(entry: Entry | undefined, get: Get): Item | undefined {
  return entry?.kind === "item" ? get(entry.id) : undefined;
}

function isNote(item: Item | undefined, note: NoteItem["note"]): item is NoteItem {
  return item?.kind === "note" && item.note === note;
}

function isReached(limit: NoteItem): boolean {
  return !limit.text.includes("warn");
}

function codeOf(item: NoteItem): string {
  return textOf(fieldsOf(item.event)["code"]);
}
