import * as fc from "fast-check";
import { expect, test } from "vitest";
import { LONG, endsOf, sizeText } from "./long.ts";

test("a short text is whole", () => {
  expect(endsOf("a".repeat(LONG))).toBeNull();
});

test("a long text is cut at its lines", () => {
  const ends = endsOf("line\n".repeat(100), 50);
  expect(ends?.head).toBe("line\nline\nline\nline\nline");
  expect(ends?.tail).toBe("line\nline\nline\nline\n");
});

test("the ends are ends of the text, nothing is in both, no letter is cut", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", minLength: 30 }), fc.nat(20), (text, limit) => {
      const ends = endsOf(text, limit);
      if (ends === null) return;
      expect(text.startsWith(ends.head)).toBe(true);
      expect(text.endsWith(ends.tail)).toBe(true);
      expect(ends.head.length + ends.hidden + ends.tail.length).toBe(text.length);
      expect(ends.hidden).toBeGreaterThanOrEqual(0);
      // It throws on half a letter.
      expect(() => [ends.head, ends.tail].map(encodeURIComponent)).not.toThrow();
    }),
  );
});

test.each([
  [12, "12 bytes"],
  [65_536, "64 KB"],
  [1_300_000, "1.2 MB"],
])("%d letters are %s", (letters, text) => expect(sizeText(letters)).toBe(text));
