import { expect, test } from "vitest";
import { languageOf, languageOfPath } from "./languages.ts";

test.each([
  ["ts", "typescript"],
  ["Python", "python"],
  ["sh", "bash"],
  ["c++", "cpp"],
  ["", null],
  ["constructor", null],
  ["brainfuck", null],
])("%j is %j", (name, language) => expect(languageOf(name)).toBe(language));

test.each([
  ["/a/b/c.py", "python"],
  ["C:\\x\\y.TSX", "tsx"],
  ["Dockerfile", "docker"],
  ["a/Makefile", "make"],
  ["LICENSE", null],
  [".bashrc", null],
])("%j is written in %j", (path, language) => expect(languageOfPath(path)).toBe(language));
