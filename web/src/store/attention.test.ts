import { expect, test } from "vitest";
import { type Saying, doing } from "./attention.ts";
import { type Row, rowOf } from "./rows.ts";

const running: Row = { ...rowOf({}), status: "running" };

test.each<[string, Row["why"], Saying, string]>([
  ["nothing more is known", "model", "", "Works"],
  ["a text is open", "model", "text", "Writes"],
  ["a thought is open", "model", "thinking", "Thinks"],
  ["a tool runs", "tool", "text", "Runs Bash"],
  ["it compacts", "compaction", "", "Compacts its context"],
])("while %s, it says so", (_, why, saying, words) => {
  expect(doing({ ...running, why, tool: "Bash" }, saying)).toBe(words);
});
