import { expect, test, vi } from "vitest";
import { blobOf, safeLink, safePicture } from "./addresses.ts";

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

const DIGEST = "0123456789abcdef".repeat(4);

test("a picture in the text itself may be shown", () => {
  expect(safePicture(" data:image/png;base64,AA ")).toBe("data:image/png;base64,AA");
});

test.each([
  "https://a.example/b.png",
  "//a.example/b.png",
  "/\\a.example",
  "data:text/html,a",
  "x.png",
  "blob:https://a.example/1",
  "/api/v1/me",
  "/api/v1/sessions/s/stream",
  "/api/v1/blobs/1",
  "/login",
  `/api/v1/blobs/${DIGEST}/..`,
  `/api/v1/blobs/${DIGEST}?a=b`,
  `/api/v1/blobs/../blobs/${DIGEST}`,
  `/api/v1/blobs/${DIGEST.toUpperCase()}`,
  `//api/v1/blobs/${DIGEST}`,
  `https://a.example/api/v1/blobs/${DIGEST}`,
])("a16: %j is not loaded as a picture", (src) => {
  vi.stubGlobal("location", new URL("https://here.example/s/1"));
  expect([safePicture(src), blobOf(src)]).toEqual(["", ""]);
});

test("a16: a blob of this gateway is known by its address", () => {
  expect(blobOf(` /api/v1/blobs/${DIGEST} `)).toBe(DIGEST);
  const whole = `https://here.example/api/v1/blobs/${DIGEST}`;
  expect(blobOf(whole)).toBe("");
  vi.stubGlobal("location", new URL("https://here.example/s/1"));
  expect(blobOf(whole)).toBe(DIGEST);
  vi.stubGlobal("document", { documentElement: { dataset: { base: "/boat" } } });
  expect(blobOf(`https://here.example/boat/api/v1/blobs/${DIGEST}`)).toBe(DIGEST);
});
