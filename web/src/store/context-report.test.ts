import { expect, test } from "vitest";
import { categoriesIn, reported } from "./context-report.ts";
import type { NoteItem } from "./items.ts";

const REPORT = `## Context Usage

**Model:** claude-sonnet-4-5-20250929
**Tokens:** 10 / 200k (0%)

### Estimated usage by category

| Category | Tokens | Percentage |
|----------|--------|------------|
| System prompt | 3.6k | 1.8% |
| Tool definitions |  8,400 | 4.2% |
| Skills | 8 | 0.0% |
| Free space | 147.4k | 73.7% |
| Autocompact buffer | 33k | 16.5% |

### Skills

| Skill | Source | Tokens |
|-------|--------|--------|
| myskill | Project | 4 |
`;

const FOUND = [
  { name: "System prompt", tokens: 3600 },
  { name: "Tool definitions", tokens: 8400 },
  { name: "Skills", tokens: 8 },
];

test("the table of a report says what fills the context, and nothing of what is free", () => {
  expect(categoriesIn(REPORT)).toEqual(FOUND);
});

test("a table in somebody's words is no report", () => {
  expect(categoriesIn(REPORT.replace("Context Usage", "My boats"))).toEqual([]);
  expect(categoriesIn("## Context Usage\nnothing")).toEqual([]);
});

function printed(text: string, command: boolean): NoteItem {
  return {
    id: text,
    parent: "",
    atMs: 0,
    seq: 0,
    past: false,
    kind: "note",
    note: "notice",
    text,
    level: "info",
    event: { command },
    blob: "",
  };
}

test("the newest report of a transcript counts, if a command printed it", () => {
  const newer = REPORT.replace("3.6k", "4k");
  const [first] = reported([printed(REPORT, true), printed(newer, true), printed("hello", true)]);
  expect(first).toEqual({ name: "System prompt", tokens: 4000 });
  expect(reported([printed(REPORT, false)])).toEqual([]);
});
