/** How items are put together into lines: reads in a row fold to one, and pages have fixed borders. */
import { type ToolKind, kindOf } from "../store/tool-kinds.ts";
import { own } from "../store/values.ts";
import type { Item, ToolItem } from "../store/items.ts";
import { tell } from "./told.ts";

/** One item. */
export interface Line {
  readonly kind: "item";
  readonly id: string;
  readonly seq: number;
  /** Its words stand in the card of a failure beside it. */
  readonly told?: boolean;
  /** The note of a limit that this failure is about. */
  readonly limit?: string;
}

export type Entry =
  | Line
  | {
      readonly kind: "group";
      readonly id: string;
      readonly seq: number;
      readonly ids: readonly string[];
      readonly sort: Sort;
    };

/** Entries are made anew with every line; most of them are as they were. */
export function sameEntry(one: Entry, other: Entry): boolean {
  if (one.id !== other.id) return false;
  if (one.kind === "item")
    return other.kind === "item" && one.told === other.told && one.limit === other.limit;
  return other.kind === "group" && one.ids.join() === other.ids.join();
}

export interface Page {
  /** Stays the same whatever is loaded before it. */
  readonly key: number;
  readonly entries: readonly Entry[];
}

/** Events a page spans: about 25 lines of a usual session, and never more than this. */
export const PAGE_SPAN = 64;

/** Tools whose calls in a row are one line: those that only look, and those that keep a list. */
export type Sort = "looks" | "lists";

const BY_KIND: Readonly<Partial<Record<ToolKind, Sort>>> = {
  fetch: "looks",
  read: "looks",
  search: "looks",
  task: "lists",
};

/** Claude's tools that stand otherwise, only together with that kind; undefined: on a line of their own. */
const BY_NAME: Readonly<Record<string, readonly [ToolKind, Sort | undefined]>> = {
  TodoWrite: ["task", undefined],
  ToolSearch: ["other", "looks"],
};

/** Errors, and what somebody was asked about, are never folded away. */
function sortOf(item: Item): Sort | undefined {
  if (item.kind !== "tool" || item.status !== "ok" || item.decision !== undefined) return undefined;
  const kind = kindOf(item.tool, item.name);
  const known = own(BY_NAME, item.name);
  return known?.[0] === kind ? known[1] : BY_KIND[kind];
}

export function entriesOf(
  ids: readonly string[],
  get: (id: string) => Item | undefined,
  after = 0,
): readonly Entry[] {
  const entries: Entry[] = [];
  let run: { readonly sort: Sort; readonly items: Item[] } | undefined;
  const endRun = (): void => {
    if (run !== undefined) entries.push(entryOf(run.sort, run.items));
    run = undefined;
  };
  for (const id of ids) {
    const item = get(id);
    if (item === undefined || item.seq <= after || isSilent(item)) continue;
    const sort = sortOf(item);
    if (sort === undefined || sort !== run?.sort) endRun();
    if (sort === undefined) {
      tell(entries, item, get);
    } else if (run === undefined) {
      run = { sort, items: [item] };
    } else {
      run.items.push(item);
    }
  }
  endRun();
  return entries;
}

function entryOf(sort: Sort, items: readonly Item[]): Entry {
  const [first] = items;
  const { id, seq } = first ?? { id: "", seq: 0 };
  if (items.length === 1) return { kind: "item", id, seq };
  return { kind: "group", id, seq, sort, ids: items.map((one) => one.id) };
}

/** Not worth a line: nothing was said, or it is shown elsewhere. */
function isSilent(item: Item): boolean {
  switch (item.kind) {
    case "user":
      // it waits in the queue, above the composer
      return item.stage === "accepted" && item.steered;
    case "text":
      return item.status !== "open" && item.text === "" && item.blob === "";
    case "thinking":
      return item.status === "discarded";
    case "note":
      return item.note === "answers" && item.text === "answered";
    default:
      return false;
  }
}

/** The page that an item stands on, by its place in the log. */
export function pageKey(seq: number): number {
  return Math.floor(seq / PAGE_SPAN);
}

export function pagesOf(entries: readonly Entry[]): readonly Page[] {
  const pages: { key: number; entries: Entry[] }[] = [];
  for (const entry of entries) {
    const key = pageKey(entry.seq);
    const last = pages[pages.length - 1];
    if (last !== undefined && last.key === key) last.entries.push(entry);
    else pages.push({ key, entries: [entry] });
  }
  return pages;
}

type Words = readonly [one: string, many: string];

const WORDS: Readonly<Partial<Record<ToolKind, Words>>> = {
  fetch: ["page", "pages"],
  read: ["file", "files"],
  task: ["change", "changes"],
};

/** Words for Claude's tools, only together with that kind. */
const WORDS_BY_NAME: Readonly<Record<string, readonly [ToolKind, Words]>> = {
  LS: ["search", ["file", "files"]],
  TaskCreate: ["task", ["new task", "new tasks"]],
  TaskGet: ["task", ["look", "looks"]],
  TaskList: ["task", ["look", "looks"]],
  WebSearch: ["fetch", ["search", "searches"]],
};

/** "Explored: 6 files, 2 searches" */
export function groupTitle(sort: Sort, items: readonly ToolItem[]): string {
  const counts = new Map<Words, number>();
  for (const { name, tool } of items) {
    const kind = kindOf(tool, name);
    const [of, byName] = own(WORDS_BY_NAME, name) ?? [];
    const words = (of === kind ? byName : WORDS[kind]) ?? SEARCH;
    const known = [...counts.keys()].find((one) => one[0] === words[0]) ?? words;
    counts.set(known, (counts.get(known) ?? 0) + 1);
  }
  const parts = [...counts].map(([[one, many], n]) => `${n} ${n === 1 ? one : many}`);
  return `${sort === "looks" ? "Explored" : "Kept its list of tasks"}: ${parts.join(", ")}`;
}

const SEARCH = ["search", "searches"] as const;
