/** The list of sessions as a person looks through it: what matches, and in which order of need. */
import { attention, byAttention } from "./attention.ts";
import type { Row } from "./rows.ts";

export type GroupName = "Needs you" | "Working" | "Today" | "Earlier";

export interface Group {
  readonly name: GroupName;
  readonly rows: readonly Row[];
}

/** Every word has to be somewhere in its title, folder, agent or model. */
export function matches(row: Row, search: string): boolean {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = `${row.title}\n${row.cwd}\n${row.agent}\n${row.model}`.toLowerCase();
  return words.every((one) => text.includes(one));
}

export function grouped(rows: readonly Row[], startOfDayMs: number): readonly Group[] {
  const groups = new Map<GroupName, Row[]>([
    ["Needs you", []],
    ["Working", []],
    ["Today", []],
    ["Earlier", []],
  ]);
  for (const row of rows.toSorted(byAttention)) groups.get(groupOf(row, startOfDayMs))?.push(row);
  return [...groups]
    .filter(([, found]) => found.length > 0)
    .map(([name, found]) => ({ name, rows: found }));
}

/** Put away, and nothing goes on in it: whatever waits for a person is never out of sight. */
export function isPutAway(row: Row): boolean {
  const state = attention(row);
  return row.archived && state !== "waiting" && state !== "running";
}

function groupOf(row: Row, startOfDayMs: number): GroupName {
  const state = attention(row);
  if (state === "waiting") return "Needs you";
  if (state === "running") return "Working";
  return row.changedMs >= startOfDayMs ? "Today" : "Earlier";
}

export function startOfDay(nowMs: number): number {
  return new Date(nowMs).setHours(0, 0, 0, 0);
}

/** How many sessions wait for a person: what the title, the badge and the bar count. */
export function waitingCount(rows: readonly Row[]): number {
  return rows.filter((one) => attention(one) === "waiting").length;
}

/** Since when it is as it is: for who waits or works that counts, for the others when it changed. */
export function sinceOf(row: Row): number {
  const state = attention(row);
  const current = state === "waiting" || state === "running";
  return current && row.sinceMs > 0 ? row.sinceMs : row.changedMs;
}

/** Folders that were worked in, the latest first, each once. */
export function folders(rows: readonly Row[]): readonly string[] {
  const latest = rows.toSorted((a, b) => b.changedMs - a.changedMs);
  return [...new Set(latest.map((one) => one.cwd).filter((one) => one !== ""))];
}
