import * as fc from "fast-check";
import { expect, test } from "vitest";
import { letters } from "../../tests/letters.ts";
import { ansi, withoutAnsi } from "./ansi.ts";

const ESC = "\u001b";

test("named colours and weights are classes", () => {
  expect(ansi(`a ${ESC}[1;31mb${ESC}[0m ${ESC}[92;44mc`)).toEqual([
    { text: "a ", className: "", fg: "", bg: "" },
    { text: "b", className: "ansi-fg-red ansi-bold", fg: "", bg: "" },
    { text: " ", className: "", fg: "", bg: "" },
    { text: "c", className: "ansi-fg-bright-green ansi-bg-blue", fg: "", bg: "" },
  ]);
});

test.each([
  ["38;5;1", "ansi-fg-red", ""],
  ["38;5;9", "ansi-fg-bright-red", ""],
  ["38;5;16", "ansi-fg", "rgb(0, 0, 0)"],
  ["38;5;208", "ansi-fg", "rgb(255, 135, 0)"],
  ["38;5;255", "ansi-fg", "rgb(238, 238, 238)"],
  ["38;2;1;2;3", "ansi-fg", "rgb(1, 2, 3)"],
])("the colour %s is %s %s", (code, className, fg) => {
  expect(ansi(`${ESC}[${code}mx`)).toEqual([{ text: "x", className, fg, bg: "" }]);
});

test("reversed letters have their colours exchanged", () => {
  const names = (code: string): string | undefined => ansi(`${ESC}[${code}mx`)[0]?.className;
  expect(names("7")).toBe("ansi-fg-black ansi-bg-white");
  expect(names("31;44;7")).toBe("ansi-fg-blue ansi-bg-red");
});

test("text that a terminal would hide is shown", () => {
  expect(ansi(`${ESC}[8mhidden`)[0]).toMatchObject({ text: "hidden", className: "" });
});

test("text without colours is one span", () => {
  expect(ansi("a\nb\u0007")).toEqual([{ text: "a\nb", className: "", fg: "", bg: "" }]);
  expect(ansi("")).toEqual([]);
});

test("too many colours leave the rest plain", () => {
  const spans = ansi(`${ESC}[31ma${ESC}[32mb`.repeat(20_000));
  expect(spans.length).toBeLessThan(10_000);
  expect(spans.map((one) => one.text).join("")).toHaveLength(40_000);
});

test("nothing that acts is left of any text, and copies have the same words", () => {
  const part = fc.oneof(fc.string({ unit: letters }), fc.constantFrom(ESC, `${ESC}[31m`, "\r"));
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const text = parts.join("");
      const shown = ansi(text)
        .map((one) => one.text)
        .join("");
      // oxlint-disable-next-line no-control-regex
      expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(withoutAnsi(text)).toBe(shown);
    }),
  );
});
