import { expect, test } from "vitest";
import { mention, replaced, tokenAt } from "./tokens.ts";

const at = (marked: string): ReturnType<typeof tokenAt> =>
  tokenAt(marked.replace("|", ""), marked.indexOf("|"));

test.each([
  ["/|", "slash", ""],
  ["/co|", "slash", "co"],
  ["/team:pl|an now", "slash", "team:pl"],
  ["@|", "file", ""],
  ["look at @src/a|", "file", "src/a"],
  ["(@re|)", "file", "re"],
  ['see @"my fi|', "file", "my fi"],
])("%s asks for a %s", (text, kind, query) => {
  expect(at(text)).toMatchObject({ kind, query });
});

test.each(["|", "hello|", "a /co|", "/cost now|", "me@home|", "@a b|", "/usr/bin|"])(
  "%s asks for nothing",
  (text) => {
    expect(at(text)).toBeUndefined();
  },
);

test("the word is put in the place of what was typed", () => {
  const token = at("look at @sr| now");
  expect(token && replaced("look at @sr now", token, mention("src/a.py", false))).toEqual({
    text: "look at @src/a.py now",
    caret: 17,
  });
});

test("a path with a space is quoted, a folder keeps its slash", () => {
  expect(mention("a b.txt", false)).toBe('@"a b.txt"');
  expect(mention("src", true)).toBe("@src/");
});
