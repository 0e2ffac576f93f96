// Every colour that letters can have here can be read on every ground they can stand on.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const css = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const words = css("../diff/diff.module.css");
const tokens = css("../style/tokens.css");
const ansi = css("./ansi.css");
const syntax = css("./syntax.css");

type Colour = readonly [lightness: number, chroma: number, hue: number];
type Both = readonly [light: Colour, dark: Colour];

const OKLCH = String.raw`oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)`;
const PAIR = String.raw`light-dark\(\s*${OKLCH},\s*${OKLCH}\s*\)`;

function found(css: string, before: string): Map<string, Both> {
  const out = new Map<string, Both>();
  for (const [, name = "", ...rest] of css.matchAll(new RegExp(`${before}${PAIR}`, "g"))) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = rest.map(Number);
    out.set(name, [
      [a, b, c],
      [d, e, f],
    ]);
  }
  return out;
}

/** Relative luminance of an OKLCH colour, clipped to what a screen can show. */
function luminance([lightness, chroma, hue]: Colour): number {
  const a = chroma * Math.cos((hue * Math.PI) / 180);
  const b = chroma * Math.sin((hue * Math.PI) / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clip = (part: number): number => Math.min(1, Math.max(0, part));
  return (
    0.2126 * clip(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) +
    0.7152 * clip(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) +
    0.0722 * clip(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s)
  );
}

function contrast(one: Colour, other: Colour): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function worst(letters: Both, grounds: Iterable<Both>): number {
  const all = [...grounds].flatMap((one) => [
    contrast(letters[0], one[0]),
    contrast(letters[1], one[1]),
  ]);
  return Math.min(...all);
}

const named = found(tokens, String.raw`--([\w-]+): `);
const token = (name: string): Both => named.get(name)!;
const PAGE = ["bg", "surface", "raised", "added", "removed"].map(token);

describe("code", () => {
  const changed = found(words, String.raw`\.(word-\w+) \{\s*background: `);

  test.each([...found(syntax, String.raw`--syn-(\w+): `)])("%s", (name, colour) => {
    // a comment in a word that changed is drawn like text
    const grounds = name === "comment" ? PAGE : [...PAGE, ...changed.values()];
    expect(worst(colour, grounds)).toBeGreaterThanOrEqual(4.5);
  });
});

describe("terminals", () => {
  const grounds = found(ansi, String.raw`\.ansi-bg-bright-(\w+) \{\s*background: `);
  const letters = found(ansi, String.raw`\.ansi-fg-bright-(\w+) \{\s*color: `);
  const pages = [...["bg", "surface", "raised"].map(token), ...grounds.values()];

  test.each([...letters])("%s", (_, colour) => {
    expect(worst(colour, pages)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(["text", "text-2", "text-3"])("%s", (name) => {
    expect(worst(token(name), pages)).toBeGreaterThanOrEqual(4.5);
  });

  test("colours without a name", () => {
    expect(letters.size).toBe(6);
    expect(grounds.size).toBe(6);
    const light = Number(/var\(--ansi-fg\) min\(l, ([\d.]+)\)/.exec(ansi)?.[1]);
    const dark = Number(/var\(--ansi-fg\) max\(l, ([\d.]+)\)/.exec(ansi)?.[1]);
    for (let hue = 0; hue < 360; hue += 15) {
      const both: Both = [
        [light, 0.16, hue],
        [dark, 0.14, hue],
      ];
      expect(worst(both, pages)).toBeGreaterThanOrEqual(4.5);
    }
  });
});

describe("changes", () => {
  test.each([...found(words, String.raw`\.(word-\w+) \{\s*background: `)])("%s", (_, ground) => {
    expect(worst(token("text"), [ground])).toBeGreaterThanOrEqual(4.5);
  });

  test("numbers, signs and counts", () => {
    expect(worst(token("text-2"), PAGE)).toBeGreaterThanOrEqual(4.5);
    expect(worst(token("ok"), [token("surface")])).toBeGreaterThanOrEqual(4.5);
    expect(worst(token("error"), [token("surface")])).toBeGreaterThanOrEqual(4.5);
  });
});
