/** Markdown to nodes with marked's lexer. No HTML: a tag in a text is text. */

import { Lexer, type MarkedToken, Tokenizer, type Token, type Tokens, getDefaults } from "marked";
import { toInlines } from "./inline.ts";
import { DEEPEST, costly, inlineCostly } from "./cost.ts";
import type { ListItem, Node } from "./tree.ts";

/** The targets of reference links, by their names. */
export type Links = Record<string, { href: string; title: string | null }>;

export interface Lexed {
  readonly nodes: readonly Node[];
  /** Where in the text a fence begins that does not end there; -1: there is none. */
  readonly openFence: number;
}

const FENCE_END = /\n {0,3}(?:`{3,}|~{3,}) *\n*$/;

class WithoutHtml extends Tokenizer {
  override html(): undefined {
    return undefined;
  }
  override tag(): undefined {
    return undefined;
  }
}

const OPTIONS = { ...getDefaults(), gfm: true, breaks: false, tokenizer: new WithoutHtml() };

/** Takes a text apart. What it defines goes into `links`; it never throws. */
export function lex(text: string, links: Links): Lexed {
  if (costly(text)) return plain(text);
  try {
    const tokens = tokensOf(text, links);
    return { nodes: toNodes(tokens, 0), openFence: openFence(tokens) };
  } catch {
    // The lexer recurses; a text made to exhaust the stack is shown as it is.
    return plain(text);
  }
}

function plain(text: string): Lexed {
  return { nodes: [{ type: "plain", text: text.replace(/\n+$/, "") }], openFence: -1 };
}

function tokensOf(text: string, links: Links): readonly Token[] {
  const lexer = new Lexer(OPTIONS);
  lexer.tokens.links = links;
  lexer.blockTokens(text, lexer.tokens);
  for (const { src, tokens } of lexer.inlineQueue) {
    if (inlineCostly(src)) tokens.push({ type: "text", raw: src, text: src });
    else lexer.inlineTokens(src, tokens);
  }
  return lexer.tokens;
}

function openFence(tokens: readonly Token[]): number {
  const last = tokens.findLastIndex((one) => one.type !== "space");
  const token = tokens[last] as MarkedToken | undefined;
  if (token?.type !== "code" || token.codeBlockStyle === "indented") return -1;
  if (FENCE_END.test(token.raw)) return -1;
  return tokens.slice(0, last).reduce((sum, one) => sum + one.raw.length, 0);
}

function toNodes(tokens: readonly Token[], depth: number): readonly Node[] {
  const nodes: Node[] = [];
  for (const token of tokens) {
    const node = toNode(token as MarkedToken, depth);
    if (node !== null) nodes.push(node);
  }
  return nodes;
}

function toNode(token: MarkedToken, depth: number): Node | null {
  if (depth > DEEPEST) return { type: "plain", text: token.raw };
  switch (token.type) {
    case "space":
    case "def":
    case "checkbox":
      return null;
    case "hr":
      return { type: "rule" };
    case "heading":
      return { type: "heading", depth: token.depth, level: 0, inlines: toInlines(token.tokens) };
    case "paragraph":
      return { type: "paragraph", inlines: toInlines(token.tokens) };
    case "text":
      return { type: "tight", inlines: toInlines(token.tokens ?? [token]) };
    case "code":
      return { type: "code", lang: firstWord(token.lang ?? ""), text: token.text, open: false };
    case "blockquote":
      return { type: "quote", nodes: toNodes(token.tokens, depth + 1) };
    case "list":
      return toList(token, depth);
    case "table":
      return toTable(token);
    default:
      return { type: "plain", text: token.raw };
  }
}

function toList(token: Tokens.List, depth: number): Node {
  const start = token.ordered ? Number(token.start) || 0 : null;
  return { type: "list", start, items: token.items.map((one) => toItem(one, depth)) };
}

function toItem(item: Tokens.ListItem, depth: number): ListItem {
  return {
    checked: item.task ? item.checked === true : null,
    nodes: toNodes(item.tokens, depth + 1),
  };
}

function toTable(token: Tokens.Table): Node {
  return {
    type: "table",
    align: token.align,
    header: token.header.map((cell) => toInlines(cell.tokens)),
    rows: token.rows.map((row) => row.map((cell) => toInlines(cell.tokens))),
  };
}

/** The language of a fence's info string. */
export function firstWord(info: string): string {
  return /^[^\s{,]*/.exec(info.trim())?.[0] ?? "";
}
