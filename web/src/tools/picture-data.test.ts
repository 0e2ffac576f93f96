import { expect, test } from "vitest";
import type { Json } from "../store/items.ts";
import { picturesIn } from "./picture-data.ts";

const PNG = { type: "image/png", data: "AAAA" };

test.each<[string, Json, object[]]>([
  ["a file", { type: "image", file: { type: "image/png", base64: "AAAA" } }, [PNG]],
  ["a block", [{ type: "image", source: { media_type: "image/png", data: "AAAA" } }], [PNG]],
  ["a server", { content: [{ type: "image", mimeType: "image/png", data: "AAAA" }] }, [PNG]],
  ["a command", { isImage: true, stdout: "data:image/png;base64,AAAA" }, [PNG]],
  ["a drawing", { file: { type: "image/svg+xml", base64: "AAAA" } }, []],
  ["nothing", null, []],
])("%s is found, and nothing that could act", (_, detail, found) => {
  expect(picturesIn(detail)).toEqual(found);
});
