import { expect, test } from "vitest";
import { follows, movedUp } from "./follow.ts";

const at = (top: number, height = 1000, view = 200) => ({ top, height, view });

test.each([
  ["at the end it follows", false, at(0), at(800), true],
  ["scrolling up stops it", true, at(800), at(700), false],
  ["growth below does not stop it", true, at(800), at(800, 1400), true],
  ["away from the end it stays away", false, at(500), at(500, 1400), false],
  ["coming back to the end starts it", false, at(500), at(795), true],
])("%s", (_, before, last, now, expected) => {
  expect(follows(before, last, now)).toBe(expected);
});

test.each([
  ["a scroll up before its event came", at(800), at(0), true],
  ["content that grew below", at(800), at(800, 1400), false],
  ["content that shrank above", at(800), at(500, 700), false],
])("%s moves the reader up: %o", (_, last, now, expected) => {
  expect(movedUp(last, now)).toBe(expected);
});
