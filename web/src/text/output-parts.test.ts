import fc from "fast-check";
import { expect, test } from "vitest";
import { partsOf } from "./output-parts.ts";

const joined = (text: string): string =>
  partsOf(text)
    .map((one) => one.text)
    .join("\n");

test("a short text is one part", () => {
  expect(partsOf("a\nb")).toEqual([{ text: "a\nb", colours: "", rows: 2, wide: false }]);
});

test("whatever has line ends is the same when it is put together again", () => {
  const lines = fc.array(fc.string({ maxLength: 300 }), { maxLength: 400 });
  fc.assert(
    fc.property(lines, (some) => {
      const text = some.map((one) => one.replaceAll(/[\r\n]/g, "x")).join("\n");
      expect(joined(text)).toBe(text.replace(/\n$/, ""));
    }),
    { numRuns: 30 },
  );
});

test("a megabyte is cut into parts that are drawn quickly", () => {
  const text = "0123456789 some line of a log\n".repeat(40_000);
  const parts = partsOf(text);
  expect(parts.length).toBeGreaterThan(50);
  expect(Math.max(...parts.map((one) => one.text.length))).toBeLessThanOrEqual(16 * 1024);
  expect(parts.reduce((sum, one) => sum + one.rows, 0)).toBe(40_000);
});

test("one line of a megabyte is broken, and nothing of it is lost", () => {
  const line = "x=f(1,2);".repeat(120_000);
  const parts = partsOf(line);
  expect(parts.every((one) => one.wide && one.rows > 1)).toBe(true);
  expect(parts.map((one) => one.text).join("")).toBe(line);
});

test("a colour goes on in the next part until it is reset", () => {
  const long = `${"x".repeat(99)}\n`.repeat(200);
  const parts = partsOf(`\u001b[1m\u001b[31mred\n${long}\u001b[0mplain\n${long}`);
  expect(parts[0]?.colours).toBe("");
  expect(parts[1]?.colours).toBe("\u001b[1m\u001b[31m");
  expect(parts.at(-1)?.colours).toBe("");
});

test("of a line that was written anew a thousand times the end counts", () => {
  const bar = Array.from({ length: 3000 }, (_, at) => `compiling ${at} of 3000`).join("\r");
  const [only, ...more] = partsOf(`${bar}\nx`);
  expect(only?.text.endsWith("compiling 2999 of 3000")).toBe(true);
  expect(only?.text.split("\r").length).toBe(64);
  expect(more.map((one) => one.text)).toEqual(["x"]);
});
