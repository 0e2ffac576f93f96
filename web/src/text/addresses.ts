/** Which addresses of an agent's text may be followed or loaded. */
import { basePath } from "../link/base.ts";

const LINK = /^(?:https?:\/\/|mailto:)[^\s]+$/i;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;
const BLOB = /^\/api\/v1\/blobs\/([0-9a-f]{64})$/;
const LONGEST = 8192;

/** The address of a link that may be offered, or nothing. */
export function safeLink(href: string): string {
  const said = href.trim();
  return said.length <= LONGEST && LINK.test(said) ? said : "";
}

/** A picture that stands in the text itself, so that nothing has to be loaded; or nothing. */
export function safePicture(src: string): string {
  const address = src.trim();
  return PICTURE.test(address) ? address : "";
}

/** The digest of the gateway's blob that an address names, or nothing. */
export function blobOf(src: string): string {
  const address = src.trim();
  if (address.length > LONGEST) return "";
  const { origin = "" } = globalThis.location ?? {};
  const path = address.startsWith(`${origin}/`) ? address.slice(origin.length) : address;
  const base = typeof document === "undefined" ? "" : basePath();
  const below = base !== "" && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  return BLOB.exec(below)?.[1] ?? "";
}
