import { expect, test } from "vitest";
import { Colourer } from "./colour.ts";
import { runsOf } from "./fence.ts";
import { LANGUAGES } from "./languages.ts";
import { KINDS } from "./palette.ts";

const colourer = new Colourer();
let pieces = 0;

async function kindsOf(line: string, language: "python" | "typescript"): Promise<string[]> {
  const [colours] = await colourer.colour(pieces++, language, [line]);
  return runsOf(line, colours).map(({ text, kind }) => `${text.trim()}:${KINDS[kind]}`);
}

test("words of code have their kinds", async () => {
  const kinds = await kindsOf('def add(a): return "x" + 1  # why', "python");
  expect(kinds).toContain("def:keyword");
  expect(kinds).toContain("add:function");
  expect(kinds).toContain('"x":string');
  expect(kinds).toContain("1:constant");
  expect(kinds).toContain("# why:comment");
});

test("a grammar goes on where the lines before it ended", async () => {
  const id = pieces++;
  await colourer.colour(id, "typescript", ["/* a long"]);
  expect(await colourer.colour(id, "typescript", ["comment */"])).toEqual([[10, 1]]);
  colourer.forget(id);
  expect(await colourer.colour(id, "typescript", ["comment"])).toEqual([[]]);
});

test("a comment at the very start does not spill into the next line", async () => {
  const fresh = new Colourer();
  const [, second] = await fresh.colour(0, "typescript", ["// why", "export const a = 1;"]);
  expect(second?.slice(0, 2)).toEqual([6, KINDS.indexOf("keyword")]);
});

test("there are as many lines of colours as lines", async () => {
  const lines = ["", "x = 1", "", ""];
  expect(await colourer.colour(pieces++, "python", lines)).toHaveLength(lines.length);
});

test.each(LANGUAGES)("%s has a grammar that works here", async (language) => {
  const lines = ["<a b='c'>1</a> // x", "key: 'value' # y", "+ function if (a) { return 1 }"];
  expect(await colourer.colour(pieces++, language, lines)).toHaveLength(lines.length);
});

test("a very long line stays plain and takes no time", async () => {
  const [colours] = await colourer.colour(pieces++, "typescript", ["const a = 1;".repeat(5000)]);
  expect(colours).toEqual([]);
});
