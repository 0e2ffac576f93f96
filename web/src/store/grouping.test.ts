import { expect, test } from "vitest";
import { attention, doing } from "./attention.ts";
import {
  folders,
  grouped,
  isPutAway,
  matches,
  sinceOf,
  startOfDay,
  waitingCount,
} from "./grouping.ts";
import { type Row, rowOf } from "./rows.ts";

const NOON = new Date(2026, 10, 16, 12).getTime();

function row(session: string, more: object = {}): Row {
  return rowOf({ session, changed_ms: NOON, status: "idle", why: "nothing", ...more });
}

const rows = [
  row("idle"),
  row("works", { status: "running", why: "tool", tool: "Bash", since_ms: NOON - 5000 }),
  row("old", { changed_ms: NOON - 86_400_000 }),
  row("asks", { status: "running", why: "permission", prompts: 1, tool: "Edit" }),
];

test("whoever needs somebody comes first, then who works, then by day", () => {
  const found = grouped(rows, startOfDay(NOON));
  expect(found.map((one) => [one.name, one.rows.map((each) => each.session)])).toEqual([
    ["Needs you", ["asks"]],
    ["Working", ["works"]],
    ["Today", ["idle"]],
    ["Earlier", ["old"]],
  ]);
});

test("a group nobody is in is not there", () => {
  expect(grouped([row("idle")], startOfDay(NOON)).map((one) => one.name)).toEqual(["Today"]);
});

test.each([
  ["PARSER demo", true],
  ["home/you", true],
  ["parser claude", false],
  ["", true],
])("a search for %j", (words, found) => {
  const one = row("s", { title: "Fix the parser", cwd: "/home/you/w", agent: "demo" });
  expect(matches(one, words)).toBe(found);
});

test("who waits is counted once, however much they ask", () => {
  expect(waitingCount([...rows, row("more", { prompts: 3, why: "question" })])).toBe(2);
});

test("a row says what it wants or does now, and since when", () => {
  expect(rows.map((row) => doing(row))).toEqual([
    "Ready",
    "Runs Bash",
    "Ready",
    "Wants to change a file",
  ]);
  expect(rows.map(attention)).toEqual(["idle", "running", "idle", "waiting"]);
  expect(sinceOf(rows[1]!)).toBe(NOON - 5000);
  expect(sinceOf(rows[0]!)).toBe(NOON);
});

test("an archived session that asks or works is not put away", () => {
  expect(isPutAway(row("a", { archived: true }))).toBe(true);
  expect(isPutAway(row("b", { archived: true, prompts: 1 }))).toBe(false);
  expect(isPutAway(row("c", { archived: true, status: "running" }))).toBe(false);
  expect(isPutAway(row("d"))).toBe(false);
});

test("folders are named once, the latest first", () => {
  const some = [
    row("a", { cwd: "/a", changed_ms: 1 }),
    row("b", { cwd: "/b", changed_ms: 3 }),
    row("c", { cwd: "/a", changed_ms: 2 }),
    row("d"),
  ];
  expect(folders(some)).toEqual(["/b", "/a"]);
});
