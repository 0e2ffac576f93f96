/** Changes of one file, as the agents tell them: hunks of lines with a sign in front. */

export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  /** " same", "-removed", "+added"; "\ " begins a remark on the hunk. */
  readonly lines: readonly string[];
}

export interface Summary {
  readonly added: number;
  readonly removed: number;
  /** Some of the change was too long to be sent: there are at least so many lines. */
  readonly more: boolean;
}

const MOST_LINES = 200_000;
const LEFT_OUT = /^\\ \d+ more (?:lines|changes)/;

/** The hunks of a `diff` event's patch. What is no hunk is left out; this never throws. */
export function hunksOf(patch: unknown): readonly Hunk[] {
  if (!Array.isArray(patch)) return [];
  const hunks: Hunk[] = [];
  let room = MOST_LINES;
  for (const one of patch as readonly unknown[]) {
    const hunk = room > 0 ? hunkOf(one, room) : null;
    if (hunk === null) continue;
    hunks.push(hunk);
    room -= hunk.lines.length;
  }
  return hunks;
}

function hunkOf(told: unknown, room: number): Hunk | null {
  if (typeof told !== "object" || told === null || !("lines" in told)) return null;
  const { lines: all, ...numbers } = told as Record<string, unknown>;
  if (!Array.isArray(all)) return null;
  const lines = all.filter((one) => typeof one === "string").slice(0, room);
  if (lines.length === 0) return null;
  return {
    oldStart: count(numbers["oldStart"]),
    oldLines: count(numbers["oldLines"]),
    newStart: count(numbers["newStart"]),
    newLines: count(numbers["newLines"]),
    lines,
  };
}

function count(told: unknown): number {
  return typeof told === "number" && Number.isSafeInteger(told) && told >= 0 ? told : 0;
}

export function summaryOf(hunks: readonly Hunk[]): Summary {
  let added = 0;
  let removed = 0;
  let more = false;
  for (const line of hunks.flatMap((one) => one.lines)) {
    if (line.startsWith("+")) added += 1;
    else if (line.startsWith("-")) removed += 1;
    else if (LEFT_OUT.test(line)) more = true;
  }
  return { added, removed, more };
}

/** "+12 −3": with a real minus sign, as it is read. */
export function summaryText({ added, removed, more }: Summary): string {
  return `+${added} \u2212${removed}${more ? " and more" : ""}`;
}

/** The change as a patch that can be pasted. */
export function patchText(path: string, hunks: readonly Hunk[]): string {
  const bodies = hunks.map((one) => [header(one), ...one.lines].join("\n"));
  const names = path === "" ? [] : [`--- ${path}`, `+++ ${path}`];
  return `${[...names, ...bodies].join("\n")}\n`;
}

function header({ oldStart, oldLines, newStart, newLines }: Hunk): string {
  return `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
}
