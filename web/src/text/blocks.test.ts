import * as fc from "fast-check";
import { lexer } from "marked";
import { describe, expect, test } from "vitest";
import { GROUP, LIVE_LIMIT, LiveMarkdown, parse } from "./blocks.ts";
import type { Node } from "./tree.ts";

const nodes = (text: string): readonly Node[] => parse(text).map((one) => one.node);
const types = (text: string): string[] => nodes(text).map((one) => one.type);

function grown(text: string): LiveMarkdown {
  const live = new LiveMarkdown();
  live.append(text);
  return live;
}

const shown = (text: string): Node | undefined => grown(text).live[0]?.node;
const cell = (text: string): unknown => [{ type: "text", text }];

const PIECES = [
  "# Title\n",
  "words **bold** and `code`\n",
  "\n",
  "- item\n",
  "  more of it\n",
  " ```\n",
  "```ts\n",
  "const a = 1;\n",
  "```\n",
  "~~~\n",
  "1. one\n",
  "| a | b |\n|---|--:|\n| 1 | 2 |\n",
  "> said\n",
  "    indented\n",
  "see [it][1]\n",
  "[1]: https://example.org\n",
  "===\n",
  "---\n",
  "<script>alert(1)</script>\n",
  "a\r\nb\r",
  "\u001b[31m",
  "***",
  "![",
];
const markdown = fc
  .array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 12 })), { maxLength: 30 })
  .map((all) => all.join(""));

function cut(text: string, sizes: readonly number[]): string[] {
  const out: string[] = [];
  let at = 0;
  for (let turn = 0; at < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    out.push(text.slice(at, at + size));
    at += size;
  }
  return out;
}

describe("a text that grows", () => {
  test("has the same blocks however it was cut", () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(markdown, sizes, fc.boolean(), (text, cuts, look) => {
        const live = new LiveMarkdown();
        for (const piece of cut(text, cuts)) {
          live.append(piece);
          if (look) void live.live;
        }
        live.finish();
        expect(live.blocks).toEqual(parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test("keeps a finished block as the same object under the same key", () => {
    const text = "# One\n\ntwo\n\n```\nthree\n```\n\n- four\n\nfive\n\nsix";
    const live = new LiveMarkdown();
    const seen = new Map<number, unknown>();
    for (const letter of text) {
      live.append(letter);
      for (const block of live.groups.flat()) {
        expect(seen.get(block.key) ?? block).toBe(block);
        seen.set(block.key, block);
      }
    }
    live.finish();
    expect(live.blocks.map((one) => one.key)).toEqual([0, 1, 2, 3, 4, 5]);
    for (const [key, block] of seen) expect(live.blocks[key]).toBe(block);
  });

  test("keeps a full group as the same object", () => {
    const live = grown("word\n\n".repeat(GROUP + 3));
    const [first] = live.groups;
    live.append("more\n\nand more\n\n");
    expect(first).toHaveLength(GROUP);
    expect(live.groups[0]).toBe(first);
  });

  test("does not read a waiting block again with each piece", () => {
    const live = grown("long ago\n\nn");
    const [before] = live.live;
    live.append("ow");
    expect(live.live[0]?.node).toBe(before?.node);
  });

  test("shows a block above the limit as plain text until it ends", () => {
    const live = grown(`**a** ${"x ".repeat(LIVE_LIMIT / 2)}`);
    expect(live.live.map((one) => one.node.type)).toEqual(["plain"]);
    live.append("\n\nnext\n\n");
    expect(live.groups.flat().map((one) => one.node.type)).toEqual(["paragraph"]);
  });

  test("shows an open fence as code without its end marks", () => {
    expect(shown("```py\nx = 1\n``")).toEqual({
      type: "code",
      lang: "py",
      text: "x = 1",
      open: true,
    });
    expect(shown("```py\nx = 1\ny")).toMatchObject({ text: "x = 1\ny" });
    expect(shown("```")).toMatchObject({ type: "code", text: "" });
  });

  test("shows of an open fence only what it will have in the end", () => {
    const code = fc.array(fc.constantFrom("a", "`", "``", "~", "\n", " "), { maxLength: 20 });
    fc.assert(
      fc.property(code, (parts) => {
        const fence = "`".repeat(50);
        const text = `${fence}\n${parts.join("")}`;
        const [whole] = nodes(`${text}\n${fence}`);
        const texts = [...text].map((_, at) => shown(text.slice(0, at + 1)));
        const said = texts.flatMap((one) => (one?.type === "code" ? [one.text] : []));
        if (whole?.type !== "code") throw new Error("no code");
        said.forEach((one, at) => {
          expect(one.startsWith(said[at - 1] ?? "")).toBe(true);
          expect(whole.text.startsWith(one)).toBe(true);
        });
      }),
    );
  });

  test.each(["a\n-", "a\n=", "a\n1", "a\n#", "a\n``", "a\n|"])(
    "does not guess what a line will become: %j",
    (text) => expect(grown(text).live.map((one) => one.node)).toEqual(nodes("a")),
  );
});

describe("a whole text", () => {
  test("has the blocks of the lexer", () => {
    const text =
      "# A\nb\n\n- c\n\n  d\n- e\n\nf\n***\n> g\nh\n\n| i | j |\n|--|--|\n| k | l |\n\n" +
      "```js\nm\n\n# n\n```\no\n\n1. p\n   ```\n   q\n   ```\n2. r\n\n    s\n\nt\n===\nu";
    const whole = lexer(text)
      .filter((one) => one.type !== "space")
      .map((one) => ({ hr: "rule", blockquote: "quote" })[one.type] ?? one.type);
    expect(types(text)).toEqual(whole);
  });

  test("has a table with its alignment", () => {
    expect(nodes("| a | b |\n|:--|--:|\n| 1 | 2 |\n| 3 |")).toEqual([
      {
        type: "table",
        align: ["left", "right"],
        header: [cell("a"), cell("b")],
        rows: [
          [cell("1"), cell("2")],
          [cell("3"), []],
        ],
      },
    ]);
  });

  test("has tasks with their ticks", () => {
    const [list] = nodes("- [x] done\n- [ ] open\n- none\n\n  - [x] loose");
    if (list?.type !== "list") throw new Error("no list");
    expect(list.items.map((one) => one.checked)).toEqual([true, false, null]);
  });

  test("finds the targets of links that are defined later, or earlier", () => {
    const [first, last] = nodes("see [it][1]\n\n[1]: https://example.org\n\nand [1]");
    expect(first).toMatchObject({ inlines: [{}, { type: "link", href: "https://example.org" }] });
    expect(last).toMatchObject({ inlines: [{}, { type: "link", href: "https://example.org" }] });
  });

  test("has items with lines between them in one list", () => {
    const [list, ...rest] = nodes("1. a\n\n2. b\n\n   more\n\n3. c");
    expect(rest).toEqual([]);
    expect(list).toMatchObject({ type: "list", start: 1, items: [{}, {}, {}] });
  });

  test("has inline tags as text too, and marks inside them as marks", () => {
    expect(nodes("a <b>*c*</b>")).toMatchObject([
      { inlines: [{ text: "a <b>" }, { type: "em" }, { text: "</b>" }] },
    ]);
    expect(nodes("<a b=c> https://b.example")).toMatchObject([{ inlines: [{}, { type: "link" }] }]);
  });

  test("keeps a fence open below a list that it does not belong to", () => {
    expect(types("- a\n ```\n x\n\ny\n ```\n\nz")).toEqual(["list", "code", "paragraph"]);
  });
});

const levels = (text: string): number[] =>
  nodes(text).flatMap((one) => (one.type === "heading" ? [one.level] : []));

describe("headings", () => {
  test("are read out without leaving out a level", () => {
    expect(levels("### a\n\n# b\n\n#### c\n\n###### d\n\n## e")).toEqual([1, 1, 2, 3, 2]);
  });

  test("keep their level when links are resolved late", () => {
    expect(levels("# [a]\n\n## b\n\n[a]: https://a.example")).toEqual([1, 2]);
  });
});

describe("a hostile text", () => {
  test("has its tags as text", () => {
    const said = "<script>alert(1)</script> <img src=x onerror=alert(1)>\n\n<div>\n*a*\n</div>";
    expect(JSON.stringify(nodes(said))).not.toContain('"html"');
    expect(nodes("<script>alert(1)</script>")).toEqual([
      { type: "paragraph", inlines: [{ type: "text", text: "<script>alert(1)</script>" }] },
    ]);
  });

  test("has no control characters left", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        // oxlint-disable-next-line no-control-regex
        expect(JSON.stringify(parse(text))).not.toMatch(/\\u00[01]|[\u007f-\u009f]/);
      }),
    );
  });

  test("is not nested deeper than can be drawn", () => {
    expect(types(">".repeat(40_000))).toEqual(["plain"]);
    expect(types("- ".repeat(20_000))).toEqual(["plain"]);
    expect(types("1. ".repeat(20_000))).toEqual(["plain"]);
  });

  const LONG = 48_000;
  const BOMBS: Record<string, string> = {
    stars: "*a _b ".repeat(LONG / 6),
    strong: "**a ".repeat(LONG / 4),
    brackets: "[".repeat(LONG),
    links: "[a](".repeat(LONG / 4),
    pictures: "![".repeat(LONG / 2),
    ticks: Array.from({ length: 300 }, (_, at) => `${"`".repeat(at)}a`).join(""),
    tags: "<a ".repeat(LONG / 3),
    indents: Array.from({ length: 200 }, (_, at) => `${" ".repeat(at * 2)}- a\n`).join(""),
    cells: `${"a|".repeat(2000)}\n${"-|".repeat(2000)}\n${"a|\n".repeat(5000)}`,
    mail: `${"a".repeat(LONG)}@`,
    escapes: "\\".repeat(LONG),
    definitions: `[a]: <${"a".repeat(LONG)}`,
    titles: `[a](b "${'"'.repeat(LONG)}`,
    tabs: `${"\t".repeat(LONG)}a`,
    line: "x".repeat(1_000_000),
  };
  test.each(Object.entries(BOMBS))("does not take the lexer long: %s", (_, text) => {
    const started = performance.now();
    parse(text);
    for (const share of [0.1, 0.5, 1]) void grown(text.slice(0, text.length * share)).live;
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test("made of signs at random does not take the lexer long", () => {
    const signs = fc.constantFrom(..."*_~`[]()!<>#-+=|:\\&@ \n\ta1.");
    const bomb = fc.array(fc.array(signs, { minLength: 1, maxLength: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(bomb, (parts) => {
        const text = parts.map((one) => one.join("").repeat(4000)).join("\n");
        const started = performance.now();
        parse(text);
        expect(performance.now() - started).toBeLessThan(3000);
      }),
      { numRuns: 40, interruptAfterTimeLimit: 6000 },
    );
  });
});
