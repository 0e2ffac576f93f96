/** How items are put together into lines: reads in a row fold to one, and pages have fixed borders. */
import type { Item, ToolItem } from "../store/items.ts";

export type Entry =
  | { readonly kind: "item"; readonly id: string; readonly seq: number }
  | {
      readonly kind: "group";
      readonly id: string;
      readonly seq: number;
      readonly ids: readonly string[];
    };

export interface Page {
  /** Stays the same whatever is loaded before it. */
  readonly key: number;
  readonly entries: readonly Entry[];
}

/** Events a page spans: about 25 lines of a usual session, and never more than this. */
export const PAGE_SPAN = 64;

/** These only look: several of them in a row are one line. */
const LOOKS = new Set([
  "Read",
  "Glob",
  "Grep",
  "LS",
  "NotebookRead",
  "WebSearch",
  "WebFetch",
  "ToolSearch",
]);

export function isLook(item: ToolItem): boolean {
  return LOOKS.has(item.name) && item.status === "ok" && item.decision === undefined;
}

export function entriesOf(
  ids: readonly string[],
  get: (id: string) => Item | undefined,
  after = 0,
): readonly Entry[] {
  const entries: Entry[] = [];
  let run: ToolItem[] = [];
  const endRun = (): void => {
    const first = run[0];
    if (first !== undefined && run.length > 1) {
      entries.push({ kind: "group", id: first.id, seq: first.seq, ids: run.map((one) => one.id) });
    } else if (first !== undefined) {
      entries.push({ kind: "item", id: first.id, seq: first.seq });
    }
    run = [];
  };
  for (const id of ids) {
    const item = get(id);
    if (item === undefined || item.seq <= after || isSilent(item)) continue;
    if (item.kind === "tool" && isLook(item)) {
      run.push(item);
      continue;
    }
    endRun();
    entries.push({ kind: "item", id, seq: item.seq });
  }
  endRun();
  return entries;
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

export function pagesOf(entries: readonly Entry[]): readonly Page[] {
  const pages: { key: number; entries: Entry[] }[] = [];
  for (const entry of entries) {
    const key = Math.floor(entry.seq / PAGE_SPAN);
    const last = pages[pages.length - 1];
    if (last !== undefined && last.key === key) last.entries.push(entry);
    else pages.push({ key, entries: [entry] });
  }
  return pages;
}

/** "6 files, 2 searches" */
export function lookedAt(items: readonly ToolItem[]): string {
  const words: [string, number, string, string][] = [
    ["files", 0, "file", "files"],
    ["searches", 0, "search", "searches"],
    ["pages", 0, "page", "pages"],
  ];
  for (const item of items) {
    const at =
      item.name === "Read" || item.name === "NotebookRead" || item.name === "LS"
        ? 0
        : item.name === "WebFetch"
          ? 2
          : 1;
    const one = words[at];
    if (one !== undefined) one[1] += 1;
  }
  return words
    .filter(([, n]) => n > 0)
    .map(([, n, single, many]) => `${n} ${n === 1 ? single : many}`)
    .join(", ");
}
