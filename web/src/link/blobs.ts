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

/** The whole of a text that is too long for the log. */
export async function blobText(digest: string): Promise<string> {
  const answer = await fetch(blobUrl(digest));
  if (!answer.ok) throw new GatewayError("no_such_blob", "it is not there any more");
  return await answer.text();
}
