/**
 * What goes with a message: pictures, PDFs and text, as the gateway takes them. A file's own bytes
 * say what it is, not its name. What is large is uploaded first and named by its digest.
 */
import type { DocumentContent, ImageContent } from "../protocol.gen.ts";

export type AttachedContent = ImageContent | DocumentContent;

/** One thing beside the draft. `content` is there once it can be sent. */
export interface Attached {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly content: AttachedContent | undefined;
  /** What was done to it. */
  readonly note: string;
}

/** What the browser has to do: it is not here, so that the rest can be tried without one. */
export interface Workshop {
  /** A smaller picture of at most so many bytes. */
  shrink(picture: Blob, most: number): Promise<Blob>;
  /** The longer side of a picture in pixels; 0: nobody knows. */
  longest(picture: Blob): Promise<number>;
  upload(data: Blob): Promise<string>;
}

/** In base64, as a model gets it, that is 5 MB. */
export const PICTURE_BYTES = Math.floor((5 * 1024 * 1024 * 3) / 4);
export const PICTURE_SIDE = 8000;
export const DOCUMENT_BYTES = 20 * 1024 * 1024;
/** What is larger is uploaded: a message to the gateway has to stay small. */
export const INLINE_BYTES = 200 * 1024;
export const MOST_ATTACHED = 20;
const HEAD = 512;

type Kind =
  | { readonly kind: "picture"; readonly media: string }
  | { readonly kind: "document"; readonly media: string }
  | { readonly kind: "refused"; readonly why: string };

const BEGINS: readonly [string, readonly number[]][] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["application/pdf", [0x25, 0x50, 0x44, 0x46]],
  ["image/bmp", [0x42, 0x4d]],
];
const RIFF = [0x52, 0x49, 0x46, 0x46];
const WEBP = [0x57, 0x45, 0x42, 0x50];

export function kindOf(name: string, told: string, head: Uint8Array): Kind {
  const media = begun(head) ?? told;
  if (media === "image/bmp" && !isText(head)) {
    return { kind: "refused", why: `${name}: BMP pictures are not taken. Save it as PNG or JPEG.` };
  }
  if (media === "application/pdf") return { kind: "document", media };
  if (begun(head) !== undefined && media !== "image/bmp") return { kind: "picture", media };
  if (isText(head)) return { kind: "document", media: "text/plain" };
  const what = told.startsWith("image/") ? "this kind of picture" : "this kind of file";
  return {
    kind: "refused",
    why: `${name}: ${what} is not taken. PNG, JPEG, GIF, WebP, PDF and text are.`,
  };
}

function begun(head: Uint8Array): string | undefined {
  const starts = (bytes: readonly number[], at = 0): boolean =>
    bytes.every((one, index) => head[at + index] === one);
  if (starts(RIFF) && starts(WEBP, 8)) return "image/webp";
  return BEGINS.find(([, bytes]) => starts(bytes))?.[0];
}

/** No zero byte, and readable as UTF-8 but for a character that was cut at the end. */
function isText(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Make a file ready to be sent.
 *
 * @throws Error with words for a person, if it cannot be.
 */
export async function prepared(
  file: Blob & { readonly name?: string },
  workshop: Workshop,
): Promise<{ content: AttachedContent; size: number; note: string }> {
  const name = file.name ?? "pasted";
  const head = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  const kind = kindOf(name, file.type, head);
  if (kind.kind === "refused") throw new Error(kind.why);
  if (file.size === 0) throw new Error(`${name} is empty.`);
  if (kind.kind === "document") {
    if (file.size > DOCUMENT_BYTES) throw new Error(`${name} is larger than 20 MB.`);
    const content = await carried(file, workshop);
    return {
      content: { type: "document", media_type: kind.media, title: name, ...content },
      size: file.size,
      note: "",
    };
  }
  const { picture, media, note } = await fitting(file, kind.media, workshop);
  const content = await carried(picture, workshop);
  return { content: { type: "image", media_type: media, ...content }, size: picture.size, note };
}

async function fitting(
  file: Blob,
  media: string,
  workshop: Workshop,
): Promise<{ picture: Blob; media: string; note: string }> {
  const large = file.size > PICTURE_BYTES || (await workshop.longest(file)) > PICTURE_SIDE;
  if (!large) return { picture: file, media, note: "" };
  const smaller = await workshop.shrink(file, PICTURE_BYTES);
  if (smaller.size > PICTURE_BYTES) throw new Error("This picture cannot be made small enough.");
  const note = media === "image/gif" ? "made smaller, first frame only" : "made smaller";
  return { picture: smaller, media: smaller.type || "image/jpeg", note };
}

async function carried(
  data: Blob,
  workshop: Workshop,
): Promise<{ data: string } | { blob: string }> {
  if (data.size > INLINE_BYTES) return { blob: await workshop.upload(data) };
  return { data: base64(new Uint8Array(await data.arrayBuffer())) };
}

const STEP = 0x8000; // arguments of one call: browsers have a limit

export function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += STEP) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + STEP)));
  }
  return btoa(parts.join(""));
}

/** What was kept over a reload; whatever is not whole is left out. */
export function attachedOf(value: unknown): readonly Attached[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return (value as Attached[]).filter((one) => typeof one?.content === "object");
}
