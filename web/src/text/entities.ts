/** Character references of markdown. The lexer leaves them as they are written. */

import { printable } from "./control.ts";

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "\u00a9",
  reg: "\u00ae",
  trade: "\u2122",
  hellip: "\u2026",
  ndash: "\u2013",
  mdash: "\u2014",
  lsquo: "\u2018",
  rsquo: "\u2019",
  ldquo: "\u201c",
  rdquo: "\u201d",
  larr: "\u2190",
  rarr: "\u2192",
  times: "\u00d7",
  middot: "\u00b7",
  bull: "\u2022",
};

const REFERENCE = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi;

/** Resolves the references people write; an unknown one stays as it is. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = decimal === undefined ? parseInt(hex ?? "", 16) : parseInt(decimal, 10);
    return letter(code);
  });
}

function letter(code: number): string {
  const bad = code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return bad ? "\ufffd" : printable(String.fromCodePoint(code));
}
