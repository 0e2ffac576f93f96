import * as fc from "fast-check";
import { expect, test } from "vitest";
import { mend } from "./mend.ts";

test.each([
  ["**bo", "**bo**"],
  ["**bold*", "**bold**"],
  ["a **b", "a **b**"],
  ["a **b ", "a **b** "],
  ["a **", "a "],
  ["a *b **c", "a *b **c***"],
  ["***both", "***both***"],
  ["~~gone", "~~gone~~"],
  ["`code", "`code`"],
  ["``a`b", "``a`b``"],
  ["a `", "a "],
  ["**a `b", "**a `b`**"],
  ["2 * 3", "2 * 3"],
  ["snake_case_name", "snake_case_name"],
  ["\\*not", "\\*not"],
  ["`a*b` c", "`a*b` c"],
  ["see [words](https://exa", "see words"],
  ["see ![alt](https://exa", "see "],
  ["see [words](https://example.org) **x", "see [words](https://example.org) **x**"],
  ["- one **two\n- three", "- one **two\n- three"],
  ["- one\n- **two", "- one\n- **two**"],
  ["> **said", "> **said**"],
  ["first **line\nsecond", "first **line\nsecond**"],
  ["done **here\n\nnext", "done **here\n\nnext"],
])("%j is shown as %j", (text, shown) => expect(mend(text)).toBe(shown));

test("a text without marks is shown as it is", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z ,.]{0,60}$/), (text) => {
      expect(mend(text)).toBe(text);
    }),
  );
});

test("any text can be shown", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(typeof mend(text)).toBe("string");
    }),
  );
});
