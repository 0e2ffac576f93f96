import { expect, test } from "vitest";
import { parse } from "./blocks.ts";
import { wordsOf } from "./inline.ts";
import type { Inline } from "./tree.ts";

function inlines(text: string): readonly Inline[] {
  const node = parse(text)[0]?.node;
  return node?.type === "paragraph" ? node.inlines : [];
}

test("marks may stand in one another", () => {
  expect(inlines("a **b *c*** `d` ~~e~~")).toEqual([
    { type: "text", text: "a " },
    {
      type: "strong",
      children: [
        { type: "text", text: "b " },
        { type: "em", children: [{ type: "text", text: "c" }] },
      ],
    },
    { type: "text", text: " " },
    { type: "code", text: "d" },
    { type: "text", text: " " },
    { type: "del", children: [{ type: "text", text: "e" }] },
  ]);
});

test("escapes and references become one text", () => {
  expect(inlines("a \\* &lt;b&gt; &#x41; &unknown; &#27;")).toEqual([
    { type: "text", text: "a * <b> A &unknown; \u241b" },
  ]);
});

test.each([
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](&#106;avascript:alert(1))",
  "[a](data:text/html,x)",
  "[a](vbscript:x)",
  "[a](file:///etc/passwd)",
  "[a](//evil.example)",
  "<javascript:alert(1)>",
])("%s has no target", (text) => {
  expect(inlines(text)).toMatchObject([{ type: "link", href: "" }]);
});

test.each(["https://a.example/b?c=d&e", "http://a.example", "mailto:a@b.example"])(
  "%s is a target",
  (href) => expect(inlines(`[a](${href})`)).toMatchObject([{ type: "link", href }]),
);

test("an address in the text is a link", () => {
  expect(inlines("https://a.example/?x=1&lt=2")).toMatchObject([
    { type: "link", href: "https://a.example/?x=1&lt=2" },
  ]);
});

test("a picture from elsewhere becomes a link, one in the text is shown", () => {
  expect(inlines("![cat](https://a.example/cat.png)")).toEqual([
    { type: "link", href: "https://a.example/cat.png", children: [{ type: "text", text: "cat" }] },
  ]);
  expect(inlines("![cat](data:image/png;base64,AAAA)")).toEqual([
    { type: "image", src: "data:image/png;base64,AAAA", alt: "cat" },
  ]);
  expect(inlines("![cat](data:text/html;base64,AAAA)")).toMatchObject([{ href: "" }]);
});

test("marks of direction in code can be seen", () => {
  expect(inlines("`rm \u202e-rf`")).toEqual([{ type: "code", text: "rm \u27e8U+202E\u27e9-rf" }]);
});

test("the words of a line have no marks", () => {
  expect(wordsOf(inlines("a **b** [c](https://d.example) `e` ![f](data:image/png;x)"))).toBe(
    "a b c e f",
  );
});
