/** Large things go by HTTP: a message names them by their digest. */
import { GatewayError } from "./errors.ts";
import { request } from "./http.ts";

export async function upload(data: Blob): Promise<string> {
  const answer = await request("/blobs", {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: data,
  });
  const value: unknown = await answer.json().catch(() => ({}));
  const told = value as { digest?: string; code?: string; detail?: string };
  if (!answer.ok || told.digest === undefined) {
    throw new GatewayError(told.code ?? "upload_failed", told.detail ?? "it could not be uploaded");
  }
  return told.digest;
}

/** Texts that were fetched last: a line that is drawn again has its height at once. */
const texts = new Map<string, string>();
const MOST_TEXTS = 16;

/** The same, if it is here already. */
export function blobTextHere(digest: string): string | undefined {
  return texts.get(digest);
}

/** The whole of a text that is too long for the log. */
export async function blobText(digest: string): Promise<string> {
  const here = texts.get(digest);
  if (here !== undefined) return here;
  const answer = await request(`/blobs/${digest}`);
  if (!answer.ok) throw new GatewayError("no_such_blob", "it is not there any more");
  const text = await answer.text();
  kept(texts, digest, text);
  return text;
}

export interface BlobEnds {
  readonly head: string;
  readonly tail: string;
  /** Bytes that lie between them. */
  readonly hidden: number;
}

const ends = new Map<string, BlobEnds>();

/** What is here already of the two ends of a text. */
export function blobEndsHere(digest: string): BlobEnds | undefined {
  return ends.get(digest);
}

/** The beginning and the end of a long text, cut at lines where there are any. */
export async function blobEnds(digest: string, bytes: number): Promise<BlobEnds> {
  const [first, last] = await Promise.all([
    blobPart(digest, `bytes=0-${bytes - 1}`),
    blobPart(digest, `bytes=-${bytes}`),
  ]);
  const cut = first.text.lastIndexOf("\n");
  const head = cut > first.text.length / 2 ? first.text.slice(0, cut) : whole(first.text);
  const next = last.text.indexOf("\n");
  const tail =
    next >= 0 && next < last.text.length / 2 ? last.text.slice(next + 1) : whole(last.text);
  const shown = new Blob([head, tail]).size;
  const found = { head, tail, hidden: Math.max(0, first.total - shown) };
  kept(ends, digest, found);
  return found;
}

const heads = new Map<string, string>();
const HEAD = 4096;

export function blobHeadHere(digest: string): string | undefined {
  return heads.get(digest);
}

/** The first letters of a text. */
export async function blobHead(digest: string): Promise<string> {
  const head = whole((await blobPart(digest, `bytes=0-${HEAD - 1}`)).text);
  kept(heads, digest, head);
  return head;
}

async function blobPart(digest: string, range: string): Promise<{ text: string; total: number }> {
  const answer = await request(`/blobs/${digest}`, { headers: { range } });
  if (!answer.ok) throw new GatewayError("no_such_blob", "it is not there any more");
  const text = await answer.text();
  const total = Number(answer.headers.get("content-range")?.split("/")[1] ?? 0);
  return { text, total };
}

/** A blob as it is, if it has no more than so many bytes. */
export async function blobBytes(digest: string, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const range = `bytes=0-${most - 1}`;
  const answer = await request(`/blobs/${digest}`, { headers: { range } });
  if (!answer.ok) throw new GatewayError("no_such_blob", "it is not there any more");
  const total = Number(answer.headers.get("content-range")?.split("/")[1] ?? 0);
  if (total > most) throw new GatewayError("too_large", `it has more than ${most >> 20} MiB`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Without the letters that were cut apart at either end. */
function whole(text: string): string {
  return text.replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, "");
}

/** The newest are kept. */
function kept<T>(all: Map<string, T>, digest: string, one: T): void {
  all.set(digest, one);
  const [oldest] = all.keys();
  if (all.size > MOST_TEXTS && oldest !== undefined) all.delete(oldest);
}
