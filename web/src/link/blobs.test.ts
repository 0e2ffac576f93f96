// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { blobEnds, blobEndsHere, blobHead, blobHeadHere } from "./blobs.ts";

afterEach(() => vi.unstubAllGlobals());

/** A gateway that has one text, and gives the part that is asked for. */
function gatewayHas(text: string): string[] {
  const data = new TextEncoder().encode(text);
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (_: string, { headers }: { headers: { range: string } }) => {
    const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(headers.range) ?? [];
    asked.push(headers.range);
    const start = first === "" ? data.length - Number(last) : Number(first);
    const end = first === "" ? data.length : Number(last) + 1;
    const part = { "content-range": `bytes ${start}-${end - 1}/${data.length}` };
    return new Response(data.slice(start, end), { status: 206, headers: part });
  });
  return asked;
}

test("the two ends of a text are cut at lines, and what lies between is counted", async () => {
  const text = Array.from({ length: 1000 }, (_, at) => `line ${at}`).join("\n");
  const asked = gatewayHas(text);
  const { head, tail, hidden } = await blobEnds("lines", 100);
  expect(asked).toEqual(["bytes=0-99", "bytes=-100"]);
  expect(text.startsWith(`${head}\n`)).toBe(true);
  expect(text.endsWith(`\n${tail}`)).toBe(true);
  expect(head.length + tail.length + hidden).toBe(text.length);
  expect(blobEndsHere("lines")?.tail).toBe(tail);
});

test("a letter that was cut apart is left out", async () => {
  gatewayHas("é".repeat(500));
  const { head, tail } = await blobEnds("letters", 101);
  expect([head, tail]).toEqual(["é".repeat(50), "é".repeat(50)]);
});

test("the beginning alone is fetched for a name", async () => {
  const asked = gatewayHas(`{"file_path":"/a","content":"${"x".repeat(9000)}"}`);
  expect(await blobHead("input")).toMatch(/^\{"file_path":"\/a"/);
  expect([asked, blobHeadHere("input")?.length]).toEqual([["bytes=0-4095"], 4096]);
});
