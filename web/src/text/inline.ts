/** What stands inside a line: emphasis, code, links, pictures. */

import type { MarkedToken, Token } from "marked";
import { blobOf, safeLink, safePicture } from "./addresses.ts";
import { printable, visible } from "./control.ts";
import { decodeEntities } from "./entities.ts";
import type { Inline } from "./tree.ts";

const DEEPEST = 32;

/** Tokens of one line or paragraph, as pieces that can be drawn. Texts in a row become one. */
export function toInlines(tokens: readonly Token[], depth = 0): readonly Inline[] {
  const out: Inline[] = [];
  for (const token of tokens) {
    const next = toInline(token as MarkedToken, depth);
    const last = out.at(-1);
    if (next.type === "text" && last?.type === "text") {
      out[out.length - 1] = { type: "text", text: last.text + next.text };
    } else if (next.type !== "text" || next.text !== "") {
      out.push(next);
    }
  }
  return out;
}

function toInline(token: MarkedToken, depth: number): Inline {
  if (depth > DEEPEST) return { type: "text", text: token.raw };
  switch (token.type) {
    case "text":
      return { type: "text", text: words(token.text) };
    case "escape":
      return { type: "text", text: token.text };
    case "codespan":
      return { type: "code", text: visible(token.text) };
    case "strong":
    case "em":
    case "del":
      return { type: token.type, children: toInlines(token.tokens, depth + 1) };
    case "br":
      return { type: "break" };
    case "link":
      return toLink(token.href, token.autolink === true, toInlines(token.tokens, depth + 1));
    case "image":
      return toPicture(words(token.href), words(token.text));
    case "checkbox":
      return { type: "text", text: "" };
    default:
      return { type: "text", text: token.raw };
  }
}

/** A reference may stand for a control character, and the lexer resolves some of them. */
function words(text: string): string {
  return printable(decodeEntities(text));
}

/** An address that may not be followed leaves the words of the link, without a target. */
function toLink(href: string, literal: boolean, children: readonly Inline[]): Inline {
  return { type: "link", href: safeLink(literal ? href : words(href)), children };
}

/**
 * A picture from elsewhere would tell its host who reads; it is offered as a link. Any other address of
 * the gateway would be asked in the name of whoever reads: only blobs are shown.
 */
function toPicture(src: string, alt: string): Inline {
  const digest = blobOf(src);
  if (digest !== "") return { type: "blob-image", digest, alt };
  const safe = safePicture(src);
  if (safe !== "") return { type: "image", src: safe, alt };
  const words: Inline = { type: "text", text: alt || src.slice(0, 200) };
  return { type: "link", href: safeLink(src), children: [words] };
}

/** The words alone, for labels and copies. */
export function wordsOf(inlines: readonly Inline[]): string {
  return inlines.map(wordOf).join("");
}

function wordOf(inline: Inline): string {
  switch (inline.type) {
    case "text":
    case "code":
      return inline.text;
    case "image":
    case "blob-image":
      return inline.alt;
    case "break":
      return "\n";
    default:
      return wordsOf(inline.children);
  }
}
