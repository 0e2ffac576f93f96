/** What fills the context, out of the report an agent prints for `/context`: a table in Markdown. */
import type { Item } from "./items.ts";
import { type Category, isTaken } from "./usage.ts";
import { fieldsOf } from "./values.ts";

const HEAD = /^#+ Context Usage/m;
const COLUMNS = /^\|\s*Category\s*\|/;
const ROW = /^\|\s*([^|]+?)\s*\|\s*([\d.,]+)\s*([km]?)\s*\|/i;
const TIMES: Readonly<Record<string, number>> = { "": 1, k: 1000, m: 1_000_000 };

export function categoriesIn(report: string): readonly Category[] {
  if (!HEAD.test(report)) return [];
  const lines = report.split("\n");
  const table = lines.findIndex((line) => COLUMNS.test(line));
  const found: Category[] = [];
  for (const line of table < 0 ? [] : lines.slice(table + 1)) {
    if (!line.startsWith("|")) break; // other tables follow
    const [, name = "", digits = "", unit = ""] = ROW.exec(line) ?? [];
    const tokens = Number(digits.replaceAll(",", "")) * (TIMES[unit.toLowerCase()] ?? 1);
    if (name !== "" && tokens > 0) found.push({ name, tokens: Math.round(tokens) });
  }
  return found.filter((one) => isTaken(one.name));
}

/** The newest report in a transcript; empty: nobody asked for one. */
export function reported(items: Iterable<Item>): readonly Category[] {
  let found: readonly Category[] = [];
  for (const item of items) {
    if (item.kind !== "note" || item.note !== "notice") continue;
    if (fieldsOf(item.event)["command"] !== true) continue;
    const told = categoriesIn(item.text);
    if (told.length > 0) found = told;
  }
  return found;
}
