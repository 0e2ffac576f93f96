import * as fc from "fast-check";
import { expect, test } from "vitest";
import { letters } from "../../tests/letters.ts";
import { exact, printable, visible } from "./control.ts";

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

const UNSEEN = [
  0x3164, 0x115f, 0x1160, 0x200b, 0x200c, 0x200d, 0x00ad, 0x034f, 0xfe00, 0xe0041, 0x2028, 0x2029,
  0x202e, 0x2066, 0x2069, 0x061c, 0x180e, 0x2060, 0x2065, 0xfeff, 0xffa0, 0xfff9, 0x1d173,
];
const ODD = [0x00a0, 0x1680, 0x2000, 0x200a, 0x202f, 0x205f, 0x3000, 0x2800, 0xfe0e, 0xfe0f];

test.each(UNSEEN)(
  "a11: character %i is spelled out in code and in what is decided about",
  (code) => {
    const hex = code.toString(16).toUpperCase().padStart(4, "0");
    const text = `const { admin,${String.fromCodePoint(code)}} = q;`;
    expect(visible(text)).toBe(`const { admin,⟨U+${hex}⟩} = q;`);
    expect(exact(text)).toBe(`const { admin,⟨U+${hex}⟩} = q;`);
  },
);

test.each(ODD)("a11: character %i is spelled out in what is decided about", (code) => {
  const hex = code.toString(16).toUpperCase().padStart(4, "0");
  expect(exact(`a${String.fromCodePoint(code)}b`)).toBe(`a⟨U+${hex}⟩b`);
});

test("a11: what is decided about keeps no joined picture together", () => {
  expect(exact("👩‍💻")).toBe("👩⟨U+200D⟩💻");
});

test("a11: plain text of any language stays as it is", () => {
  const text = "echo 'ä ß 你好 привет שלום é'\n\tls";
  expect(exact(text)).toBe(text);
  expect(visible(text)).toBe(text);
});
