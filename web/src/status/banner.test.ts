import { expect, test } from "vitest";
import { bannerOf, waitingWords } from "./banner.ts";

test.each([
  ["online", true, true, ""],
  ["connecting", true, false, ""],
  ["connecting", true, true, "lost"],
  ["offline", true, true, "lost"],
  ["offline", false, true, "unplugged"],
  ["refused", true, false, "refused"],
  ["newer", false, true, "newer"],
] as const)("%s (plugged in: %s, known: %s) is told as %j", (state, plugged, known, told) => {
  expect(bannerOf(state, plugged, known)).toBe(told);
});

test("an old page is told while all else is well", () => {
  expect(bannerOf("online", true, true, true)).toBe("stale");
  expect(bannerOf("offline", true, true, true)).toBe("lost");
});

test.each([
  [0, "What you send is kept"],
  [1, "1 message waits"],
  [2, "2 messages wait"],
])("with %i messages on their way it says: %s", (count, words) => {
  expect(waitingWords(count)).toContain(words);
});
