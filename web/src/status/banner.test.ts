import { expect, test } from "vitest";
import { bannerOf } from "./banner.ts";

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
