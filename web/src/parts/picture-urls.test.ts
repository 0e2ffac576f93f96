import { beforeEach, expect, test, vi } from "vitest";
import { MOST_BYTES, MOST_UNUSED, pictureHere, takePicture } from "./picture-urls.ts";

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0];
let asked: string[] = [];
let shown = new Set<string>();
let count = 0;

/** Each blob answers with these bytes; `total`: as if there were so many. */
function gatewayHas(bytes: readonly number[], { total = 0, status = 200 } = {}): void {
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    const headers: Record<string, string> =
      total > 0 ? { "content-range": `bytes 0-8/${total}` } : {};
    return new Response(new Uint8Array(bytes), { status, headers });
  });
}

beforeEach(() => {
  asked = [];
  shown = new Set();
  vi.stubGlobal("document", { documentElement: { dataset: { base: "" } } });
  vi.spyOn(URL, "createObjectURL").mockImplementation((blob) => {
    count += 1;
    const url = `blob:${count}-${(blob as Blob).type}`;
    shown.add(url);
    return url;
  });
  vi.spyOn(URL, "revokeObjectURL").mockImplementation((url) => void shown.delete(url));
});

test("a04: a picture is fetched once for all who show it, and stays while one does", async () => {
  gatewayHas(PNG);
  const [first, second] = [takePicture("shared"), takePicture("shared")];
  const url = await first.url;
  expect([await second.url, pictureHere("shared"), asked.length]).toEqual([url, url, 1]);
  expect(url).toMatch(/image\/png$/);
  first.giveBack();
  const others = Array.from({ length: MOST_UNUSED + 3 }, (_, at) => takePicture(`other-${at}`));
  await Promise.all(others.map((one) => one.url));
  for (const one of others) one.giveBack();
  expect(shown.has(url)).toBe(true);
  expect(shown.size).toBe(MOST_UNUSED + 1); // of those that nobody shows, the last ones
  second.giveBack();
  expect(shown.size).toBe(MOST_UNUSED);
});

test("a04: what is no picture, too large or gone is not shown, and is asked for again", async () => {
  gatewayHas([...new TextEncoder().encode("<svg onload=alert(1)>")]);
  await expect(takePicture("bad").url).rejects.toMatchObject({ code: "no_picture" });
  gatewayHas(PNG, { total: MOST_BYTES + 1, status: 206 });
  await expect(takePicture("bad").url).rejects.toMatchObject({ code: "too_large" });
  gatewayHas([], { status: 404 });
  const failed = takePicture("bad");
  await expect(failed.url).rejects.toMatchObject({ code: "no_such_blob" });
  expect([asked.length, pictureHere("bad")]).toEqual([3, ""]);
  gatewayHas(PNG);
  const good = takePicture("bad");
  failed.giveBack(); // the one before: this one is still shown
  const url = await good.url;
  expect(pictureHere("bad")).toBe(url);
  good.giveBack();
});
