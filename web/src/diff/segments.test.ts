import fc from "fast-check";
import { expect, test } from "vitest";
import { markedOf } from "./segments.ts";

test("a word that changed is one mark with the colours of its letters", () => {
  const parts = [
    { text: "return f", changed: false },
    { text: '"Hi"', changed: true },
    { text: ";", changed: false },
  ];
  // `return` a keyword, then a space, then f"Hi" a string
  expect(markedOf(parts, [6, 2, 1, 0, 5, 3])).toEqual([
    {
      changed: false,
      segments: [
        { text: "return", kind: 2 },
        { text: " ", kind: 0 },
        { text: "f", kind: 3 },
      ],
    },
    { changed: true, segments: [{ text: '"Hi"', kind: 3 }] },
    { changed: false, segments: [{ text: ";", kind: 0 }] },
  ]);
});

test("no letter is lost or told twice, whatever the cuts", () => {
  const words = fc.array(fc.record({ text: fc.string(), changed: fc.boolean() }), {
    maxLength: 6,
  });
  const colours = fc.array(fc.tuple(fc.nat(9), fc.nat(5)), { maxLength: 6 });
  fc.assert(
    fc.property(words, colours, (parts, pairs) => {
      const told = markedOf(parts, pairs.flat());
      const texts = told.map((one) => one.segments.map((segment) => segment.text).join(""));
      expect(texts).toEqual(parts.map((one) => one.text));
    }),
  );
});
