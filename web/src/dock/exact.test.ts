import { expect, test } from "vitest";
import { exact, mixed, textsIn } from "./exact.ts";

test.each([
  ["a\u202eb", "a⟨U+202E⟩b"],
  ["a\u200bb", "a⟨U+200B⟩b"],
  ["a\u200db", "a⟨U+200D⟩b"],
  ["rm\u00a0-rf", "rm⟨U+00A0⟩-rf"],
  ["a\u{e0041}b", "a⟨U+E0041⟩b"],
  ["a\u3164b", "a⟨U+3164⟩b"],
  ["ls\rrm", "ls␍rm"],
  ["a\u001b[2Jb", "a␛[2Jb"],
])("%j is shown with all that is in it", (text, shown) => {
  expect(exact(text)).toBe(shown);
});

test("plain text, line ends and letters of any language stay as they are", () => {
  const text = "echo 'ä ß 你好 привет'\n\tls";
  expect(exact(text)).toBe(text);
});

test("a word of several scripts is named", () => {
  expect(mixed("curl https://p\u0430ypal.com")).toEqual(["p\u0430ypal"]);
  expect(mixed("echo ｒｍ")).toEqual(["ｒｍ"]);
  expect(mixed("echo привет world")).toEqual([]);
});

test("texts are found at any depth", () => {
  expect(textsIn({ a: "x", b: [{ c: "y" }], d: 5 })).toEqual(["x", "y"]);
});
