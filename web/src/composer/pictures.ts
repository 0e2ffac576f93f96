/** Pictures made smaller by the browser, until they fit. */
import { upload } from "../link/blobs.ts";
import { PICTURE_SIDE, type Workshop } from "./attach.ts";

const TRIES = 8;
const SIDE = 4000; // more than a model looks at
const WEBP = "image/webp";
const JPEG = "image/jpeg";

async function shrink(picture: Blob, most: number): Promise<Blob> {
  const bitmap = await createImageBitmap(picture);
  try {
    const longest = Math.max(bitmap.width, bitmap.height);
    let scale = Math.min(1, SIDE / longest);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const made = await drawn(bitmap, scale);
      if (made.size <= most) return made;
      scale *= Math.min(0.85, Math.sqrt(most / made.size));
    }
    throw new Error("This picture cannot be made small enough.");
  } finally {
    bitmap.close();
  }
}

async function drawn(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const width = Math.max(1, Math.round(bitmap.width * scale));
  const height = Math.max(1, Math.round(bitmap.height * scale));
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("This browser cannot make pictures smaller.");
  const type = smallType();
  if (type === JPEG) {
    context.fillStyle = "#fff"; // what can be seen through would be black
    context.fillRect(0, 0, width, height);
  }
  context.drawImage(bitmap, 0, 0, width, height);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, type, 0.88));
  if (blob === null) throw new Error(`This picture has more than ${PICTURE_SIDE} pixels a side.`);
  return blob;
}

/** Safari writes no WebP. It would write PNG instead, of which a photograph is far too large. */
function smallType(): string {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  return canvas.toDataURL(WEBP).startsWith(`data:${WEBP}`) ? WEBP : JPEG;
}

async function longest(picture: Blob): Promise<number> {
  try {
    const bitmap = await createImageBitmap(picture);
    const side = Math.max(bitmap.width, bitmap.height);
    bitmap.close();
    return side;
  } catch {
    throw new Error("This picture is broken: no browser can show it.");
  }
}

export const workshop: Workshop = { shrink, longest, upload };
