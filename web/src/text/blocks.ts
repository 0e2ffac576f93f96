/**
 * Markdown that grows: finished blocks are frozen, only the last one is read again.
 *
 * A text is cut into segments by its whole lines alone, so its blocks do not depend on the pieces
 * it came in. A segment is lexed once when it is over, and as often as it is looked at while it
 * grows. An open fence is not lexed at all.
 */

import { type Links, lex } from "./lex.ts";
import { LineCutter } from "./lines.ts";
import { mend } from "./mend.ts";
import { type Fence, Segment, endsFence, fenceOf, fenced } from "./scan.ts";
import type { Block, Node } from "./tree.ts";

/** A growing block above this is shown as plain text until it ends. */
export const LIVE_LIMIT = 64 * 1024;
/** Frozen blocks are drawn in groups: a full one never changes again. */
export const GROUP = 32;

interface Frozen {
  readonly text: string;
  readonly first: number;
  readonly count: number;
}

export class LiveMarkdown {
  #lines = new LineCutter();
  #segment = new Segment();
  #fence: Fence | null = null;
  #code: string[] = [];
  #groups: (readonly Block[])[] = [];
  #count = 0;
  #links: Links = Object.create(null) as Links;
  #refer: Frozen[] = [];
  #level = 0;
  #live: readonly Block[] | null = null;
  #over: { text: string; nodes: readonly Node[] } = { text: "", nodes: [] };
  #done = false;

  /** Adds the next piece of the text. */
  append(piece: string): void {
    if (piece === "") return;
    if (this.#done) throw new Error("the text is finished");
    for (const line of this.#lines.take(piece)) this.#take(line);
    this.#live = null;
  }

  /** Nothing more comes: everything is frozen, and late definitions reach the links before them. */
  finish(): void {
    if (this.#done) return;
    for (const line of this.#lines.finish()) this.#take(line);
    if (this.#fence !== null) this.#freezeCode(this.#fence);
    else this.#freeze();
    this.#done = true;
    this.#live = [];
    this.#resolve();
  }

  /** Frozen blocks in groups of `GROUP`; a full group is the same object for ever. */
  get groups(): readonly (readonly Block[])[] {
    return this.#groups;
  }

  /** All blocks in groups: a growing block already stands where it will be frozen. */
  get shown(): readonly (readonly Block[])[] {
    const shown = [...this.#groups];
    for (const block of this.live) {
      const at = Math.floor(block.key / GROUP);
      shown[at] = [...(shown[at] ?? []), block];
    }
    return shown;
  }

  /** What is still growing, as it is to be shown now. */
  get live(): readonly Block[] {
    this.#live ??= this.#levelled(this.#growing(), false).map((node, at) => ({
      key: this.#count + at,
      node,
    }));
    return this.#live;
  }

  get blocks(): readonly Block[] {
    return [...this.#groups.flat(), ...this.live];
  }

  #take(line: string): void {
    if (this.#fence !== null) {
      if (endsFence(line, this.#fence)) this.#freezeCode(this.#fence);
      else this.#code.push(fenced(line, this.#fence));
      return;
    }
    if (this.#segment.endsBefore(line)) {
      this.#freeze();
      if (this.#fence !== null) return this.#take(line);
    }
    this.#fence = this.#segment.empty ? fenceOf(line) : null;
    if (this.#fence === null) this.#segment.add(line);
  }

  #freezeCode({ lang }: Fence): void {
    this.#push([{ type: "code", lang, text: this.#code.join("\n"), open: false }]);
    this.#fence = null;
    this.#code = [];
  }

  #freeze(): void {
    const { text, doubtful } = this.#segment;
    this.#segment = new Segment();
    if (text === "") return;
    const { nodes, openFence } = lex(text, this.#links);
    if (doubtful && openFence >= 0) return this.#reopen(text, openFence);
    if (text.includes("[")) {
      this.#refer.push({ text, first: this.#count, count: nodes.length });
    }
    this.#push(nodes);
  }

  /** A fence that looked like a part of a list stands below it, and goes on. */
  #reopen(text: string, start: number): void {
    if (start > 0) this.#push(lex(text.slice(0, start), this.#links).nodes);
    const [first = "", ...rest] = text.slice(start).split("\n").slice(0, -1);
    const fence = fenceOf(first);
    this.#fence = fence;
    if (fence !== null) this.#code = rest.map((line) => fenced(line, fence));
  }

  #push(nodes: readonly Node[]): void {
    for (const node of this.#levelled(nodes, true)) {
      const block: Block = Object.freeze({ key: this.#count, node });
      const at = Math.floor(this.#count / GROUP);
      this.#groups[at] = [...(this.#groups[at] ?? []), block];
      this.#count += 1;
    }
  }

  /** Headings get the level they are read out with. */
  #levelled(nodes: readonly Node[], keep: boolean): readonly Node[] {
    let last = this.#level;
    const out = nodes.map((node) => {
      if (node.type !== "heading") return node;
      last = Math.min(node.depth, last + 1);
      return { ...node, level: last };
    });
    if (keep) this.#level = last;
    return out;
  }

  #growing(): readonly Node[] {
    const partial = this.#lines.partial;
    if (this.#fence !== null) return [this.#openCode(this.#fence, partial)];
    if (this.#segment.endsBefore(partial)) {
      return [...this.#waiting(this.#segment.text), ...this.#alone(partial)];
    }
    return this.#segment.empty ? this.#alone(partial) : this.#shown(this.#segment.text + partial);
  }

  /** A segment that is over but for the line that will say so: read once, not with each piece. */
  #waiting(text: string): readonly Node[] {
    if (this.#over.text !== text) this.#over = { text, nodes: this.#shown(text) };
    return this.#over.nodes;
  }

  /** What it shows only grows, up to what will be frozen: so its colours can follow. */
  #openCode(fence: Fence, partial: string): Node {
    const lines = [...this.#code];
    const mayEnd = /^ {0,3}[`~]* *$/.test(partial);
    if (!mayEnd) lines.push(fenced(partial, fence));
    return { type: "code", lang: fence.lang, text: lines.join("\n"), open: true };
  }

  #alone(partial: string): readonly Node[] {
    const fence = fenceOf(partial);
    if (fence === null) return this.#shown(partial);
    return [{ type: "code", lang: fence.lang, text: "", open: true }];
  }

  #shown(text: string): readonly Node[] {
    if (text.length > LIVE_LIMIT) return [{ type: "plain", text }];
    const links = Object.assign(Object.create(null), this.#links) as Links;
    return lex(this.#segment.doubtful ? text : mend(text), links).nodes;
  }

  /** Links may be named before their targets; those blocks are read once more. */
  #resolve(): void {
    const early = this.#refer;
    this.#refer = [];
    if (Object.keys(this.#links).length === 0) return;
    for (const { text, first, count } of early) {
      const { nodes } = lex(text, this.#links);
      if (nodes.length === count) nodes.forEach((node, at) => this.#replace(first + at, node));
    }
  }

  #replace(key: number, node: Node): void {
    const at = Math.floor(key / GROUP);
    const group = [...(this.#groups[at] ?? [])];
    const before = group[key % GROUP]?.node;
    const level = before?.type === "heading" ? before.level : 0;
    const after = node.type === "heading" ? { ...node, level } : node;
    group[key % GROUP] = Object.freeze({ key, node: after });
    this.#groups[at] = group;
  }
}

/** The blocks of a whole text. */
export function parse(text: string): readonly Block[] {
  return read(text).blocks;
}

/** A whole text, read to its end. */
export function read(text: string): LiveMarkdown {
  const markdown = new LiveMarkdown();
  markdown.append(text);
  markdown.finish();
  return markdown;
}
