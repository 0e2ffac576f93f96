import { expect, test, vi } from "vitest";
import { safeLink, safePicture } from "./addresses.ts";

test.each(["https://a.example", " http://a.example/b ", "MAILTO:a@b.example"])(
  "%j may be followed",
  (href) => expect(safeLink(href)).toBe(href.trim()),
);

test.each([
  "",
  "javascript:1",
  "java\nscript:1",
  "/path",
  "//host",
  "https://a b",
  "https:",
  "ftp://a",
])("%j may not be followed", (href) => expect(safeLink(href)).toBe(""));

test.each(["data:image/png;base64,AA", "blob:https://a.example/1", "/api/v1/blobs/1"])(
  "%j may be loaded",
  (src) => expect(safePicture(src)).toBe(src),
);

test.each([
  "https://a.example/b.png",
  "//a.example/b.png",
  "/\\a.example",
  "data:text/html,a",
  "x.png",
])("%j may not be loaded", (src) => expect(safePicture(src)).toBe(""));

test("a picture of this gateway may be loaded by its whole address", () => {
  const src = "https://here.example/api/v1/blobs/1";
  expect(safePicture(src)).toBe("");
  vi.stubGlobal("location", new URL("https://here.example/s/1"));
  expect(safePicture(src)).toBe(src);
});
