/** Large things go by HTTP: a message names them by their digest. */
import { apiUrl } from "./base.ts";
import { GatewayError } from "./errors.ts";

export async function upload(data: Blob): Promise<string> {
  const answer = await fetch(apiUrl("/blobs"), {
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

export function blobUrl(digest: string): string {
  return apiUrl(`/blobs/${digest}`);
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
  const answer = await fetch(blobUrl(digest));
  if (!answer.ok) throw new GatewayError("no_such_blob", "it is not there any more");
  const text = await answer.text();
  texts.set(digest, text);
  const [oldest] = texts.keys();
  if (texts.size > MOST_TEXTS && oldest !== undefined) texts.delete(oldest);
  return text;
}
