import * as fc from "fast-check";
import { expect, test } from "vitest";
import { letters } from "../../tests/letters.ts";
import { printable, visible } from "./control.ts";

test("controls become pictures of themselves", () => {
  expect(printable("a\u001b[31m\u0007\u007f\u0085\n\tb")).toBe(
    "a\u241b[31m\u2407\u2421\ufffd\n\tb",
  );
});

test("marks of direction are spelled out", () => {
  expect(visible("a\u202eb\u2066c\ufeff")).toBe("a⟨U+202E⟩b⟨U+2066⟩c⟨U+FEFF⟩");
});

test("a joined emoji and other writings stay as they are", () => {
  expect(visible("👩‍💻 שלום é")).toBe("👩‍💻 שלום é");
});

test("what can be seen is seen only once", () => {
  fc.assert(
    fc.property(fc.string({ unit: letters }), (text) => {
      expect(visible(visible(text))).toBe(visible(text));
    }),
  );
});
