import { expect, test } from "vitest";
import { INLINE_BYTES, PICTURE_BYTES, type Workshop, base64, kindOf, prepared } from "./attach.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0];

function workshop(longest = 100): Workshop & { uploads: number[] } {
  const uploads: number[] = [];
  return {
    uploads,
    shrink: async (_, most) => new Blob([new Uint8Array(most)], { type: "image/webp" }),
    longest: async () => longest,
    upload: async (data) => {
      uploads.push(data.size);
      return "digest";
    },
  };
}

function file(name: string, type: string, begins: number[], size = begins.length): File {
  const bytes = new Uint8Array(size);
  bytes.set(begins);
  return new File([bytes], name, { type });
}

test.each([
  ["a.png", PNG, "image/png"],
  ["a.jpg", [0xff, 0xd8, 0xff, 0xe0, 0], "image/jpeg"],
  ["a.gif", [0x47, 0x49, 0x46, 0x38, 0x39, 0], "image/gif"],
  ["a.webp", [0x52, 0x49, 0x46, 0x46, 0, 0, 0, 0, 0x57, 0x45, 0x42, 0x50], "image/webp"],
])("%s is a picture by its bytes, whatever it is called", (name, begins, media) => {
  const kind = kindOf(name, "application/octet-stream", new Uint8Array(begins));
  expect(kind).toEqual({ kind: "picture", media });
});

test("text of any kind is a document of text, a PDF is a PDF", () => {
  const text = new TextEncoder().encode("def f():\n    return 'ä'");
  expect(kindOf("a.py", "text/x-python", text)).toEqual({ kind: "document", media: "text/plain" });
  expect(kindOf("a.svg", "image/svg+xml", text)).toMatchObject({ media: "text/plain" });
  const pdf = new TextEncoder().encode("%PDF-1.7");
  expect(kindOf("a", "", pdf)).toEqual({ kind: "document", media: "application/pdf" });
});

test("a BMP picture and what nobody knows are refused with words", async () => {
  await expect(
    prepared(file("a.bmp", "image/bmp", [0x42, 0x4d, 0, 0]), workshop()),
  ).rejects.toThrow("a.bmp: BMP pictures are not taken. Save it as PNG or JPEG.");
  await expect(prepared(file("a.zip", "", [0x50, 0x4b, 3, 4, 0]), workshop())).rejects.toThrow(
    "PNG, JPEG, GIF, WebP, PDF and text are",
  );
});

test("an empty file is refused", async () => {
  await expect(prepared(new File([], "a.txt"), workshop())).rejects.toThrow("a.txt is empty.");
});

test("something small goes with the message, something larger is uploaded first", async () => {
  const shop = workshop();
  const small = await prepared(file("a.png", "image/png", PNG), shop);
  expect(small.content).toEqual({
    type: "image",
    media_type: "image/png",
    data: base64(new Uint8Array(PNG)),
  });
  const large = await prepared(file("a.png", "image/png", PNG, INLINE_BYTES + 1), shop);
  expect(large.content).toEqual({ type: "image", media_type: "image/png", blob: "digest" });
  expect(shop.uploads).toEqual([INLINE_BYTES + 1]);
});

test.each([
  ["too many bytes", PICTURE_BYTES + 1, 100],
  ["too many pixels", 1000, 9000],
])("a picture of %s is made smaller", async (_, size, longest) => {
  const shop = workshop(longest);
  const made = await prepared(file("a.gif", "", [0x47, 0x49, 0x46, 0x38], size), shop);
  expect(made.size).toBeLessThanOrEqual(PICTURE_BYTES);
  expect(made.content).toMatchObject({ media_type: "image/webp", blob: "digest" });
  expect(made.note).toBe("made smaller, first frame only");
});

test("long data is encoded as it is", () => {
  const bytes = new Uint8Array(100_000).map((_, at) => at % 251);
  expect(base64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
});
