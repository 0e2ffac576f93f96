import * as fc from "fast-check";
import { expect, test } from "vitest";
import { onScreen } from "./terminal.ts";

const ESC = "\u001b";

test.each([
  ["10%\r50%\r100%", "100%"],
  ["long line\rshort", "shortline"],
  ["a\r\nb", "a\nb"],
  ["abc\b\bX", "aXc"],
  [`progress${ESC}[2K\rdone`, "done"],
  [`abcdef\r${ESC}[K`, ""],
  [`abcdef${ESC}[3D${ESC}[K`, "abc"],
  [`abc${ESC}[1G${ESC}[1K`, " bc"],
  [`a${ESC}[3Cb`, "a   b"],
  [`${ESC}]0;title\u0007text`, "text"],
  [`${ESC}]8;;https://a.example${ESC}\\link${ESC}]8;;${ESC}\\`, "link"],
  [`${ESC}[?25l${ESC}[2J${ESC}[Hseen`, "seen"],
  [`${ESC}(Bplain${ESC}=`, "plain"],
  [`cut${ESC}[3`, "cut"],
  [`cut${ESC}`, "cut"],
])("%j shows %j", (text, shown) => expect(onScreen(text)).toBe(shown));

test("a sequence that does not end hides nothing", () => {
  expect(onScreen(`${ESC}]0;rm -rf /`)).toBe("0;rm -rf /");
});

test("colours stay with their letters when a line is written over", () => {
  expect(onScreen(`${ESC}[31mred\r${ESC}[0mX`)).toBe(
    `${ESC}[0m${ESC}[0mX${ESC}[0m${ESC}[31med${ESC}[0m`,
  );
});

test("a cursor that is sent far away makes no huge line", () => {
  expect(onScreen(`a${ESC}[999999999Cb`.repeat(20)).length).toBeLessThan(20_000);
});

test("only colours are left of any text", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary-ascii", maxLength: 6 }),
    fc.constantFrom(`${ESC}[31m`, `${ESC}[2K`, "\r", "\b", `${ESC}[`, `${ESC}]`, `${ESC}[5D`),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const shown = onScreen(parts.join(""));
      // oxlint-disable-next-line no-control-regex
      expect(shown.replace(/\u001b\[[0-?]*[ -/]*m/g, "")).not.toMatch(/\u001b/);
    }),
  );
});
