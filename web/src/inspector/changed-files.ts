/** Which files a session changed: each once, the newest change first. */
import type { Item } from "../store/items.ts";
import { counted } from "../store/reduce-items.ts";

export interface ChangedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly times: number;
  /** The call that changed it last. */
  readonly last: string;
}

export function changesOf(items: Iterable<Item>): readonly ChangedFile[] {
  const found = new Map<string, ChangedFile>();
  for (const item of items) {
    if (item.kind !== "tool" || item.past) continue;
    for (const diff of item.diffs) {
      const { added, removed } = counted(diff.patch);
      const before = found.get(diff.path);
      found.delete(diff.path);
      found.set(diff.path, {
        path: diff.path,
        added: added + (before?.added ?? 0),
        removed: removed + (before?.removed ?? 0),
        times: 1 + (before?.times ?? 0),
        last: item.id,
      });
    }
  }
  return [...found.values()].toReversed();
}
