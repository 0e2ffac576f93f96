import { expect, test } from "vitest";
import type { Json } from "../store/items.ts";
import { sourcesOf } from "./sources.ts";

test("pages are found once each, wherever they lie, and only those one may go to", () => {
  const results: Json = [
    "words of the model",
    { tool_use_id: "s", content: [{ title: "A", url: "https://a.invalid/" }] },
    { title: "A again", url: "https://a.invalid/" },
    { title: "Bad", url: "javascript:alert(1)" },
  ];
  expect(sourcesOf(results, "https://b.invalid/x")).toEqual([
    { title: "", url: "https://b.invalid/x" },
    { title: "A", url: "https://a.invalid/" },
  ]);
});
