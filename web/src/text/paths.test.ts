import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findPaths, pathOf } from "./paths.ts";

test.each([
  ["see src/app.py:12.", "src/app.py", 12, 0],
  ["in /etc/hosts now", "/etc/hosts", 0, 0],
  ["(./a/b.ts:3:7)", "./a/b.ts", 3, 7],
  ["src/a.cs(10,4): error", "src/a.cs", 10, 4],
  ["web/x.tsx#L9", "web/x.tsx", 9, 0],
  ["open main.go", "main.go", 0, 0],
  ["C:\\work\\a.py:2", "C:\\work\\a.py", 2, 0],
  ["~/notes/today", "~/notes/today", 0, 0],
  ["bin/tool:4", "bin/tool", 4, 0],
])("%j names a file", (text, path, line, column) => {
  expect(findPaths(text)).toMatchObject([{ path, line, column }]);
});

test.each([
  "and/or",
  "https://a.example/b/c.py:3",
  "1/2",
  "/help",
  "a.b.d",
  "version 1.2.3",
  "me@a.example",
  "TCP/IP",
  "foo.bar()",
])("%j names none", (text) => expect(findPaths(text)).toEqual([]));

test("a whole text can be one name", () => {
  expect(pathOf("src/a.ts:4")).toMatchObject({ path: "src/a.ts", line: 4 });
  expect(pathOf("run src/a.ts")).toBeNull();
  expect(pathOf("")).toBeNull();
});

test("matches lie in the text in their order, and a long text takes no time", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      let at = 0;
      for (const one of findPaths(text)) {
        expect(one.start).toBeGreaterThanOrEqual(at);
        expect(text.slice(one.start)).toMatch(/^\S/);
        at = one.end;
      }
    }),
  );
  const started = performance.now();
  for (const part of ["a", "a/", "../", ".a", "a:1", "-/", "a\\"]) findPaths(part.repeat(15_000));
  expect(performance.now() - started).toBeLessThan(2000);
});
