/**
 * Pictures of the gateway as addresses that an `img` takes.
 *
 * An `img` cannot send the login key, so a picture is fetched and shown by an object URL. All who show
 * the same one share it. The last ones that nobody shows stay for a while, because a line that is drawn
 * again should have its height at once; older ones are given back.
 */
import { kindOf } from "../composer/attach.ts";
import { blobBytes } from "../link/blobs.ts";
import { GatewayError } from "../link/errors.ts";

export const MOST_BYTES = 32 << 20;
export const MOST_UNUSED = 16;

interface Held {
  users: number;
  /** "": it is not here yet. */
  url: string;
  readonly coming: Promise<string>;
}

/** In the order in which they were last given back. */
const held = new Map<string, Held>();

async function fetched(digest: string): Promise<string> {
  const bytes = await blobBytes(digest, MOST_BYTES);
  const kind = kindOf("", "", bytes.subarray(0, 512));
  if (kind.kind !== "picture") throw new GatewayError("no_picture", "it is no picture");
  return URL.createObjectURL(new Blob([bytes], { type: kind.media }));
}

/** Its address, if it is here already; else "". */
export function pictureHere(digest: string): string {
  return held.get(digest)?.url ?? "";
}

export interface Taken {
  /** Its address, once it is here. */
  readonly url: Promise<string>;
  /** Whoever shows it no more says so, once. */
  readonly giveBack: () => void;
}

export function takePicture(digest: string): Taken {
  const known = held.get(digest) ?? begun(digest);
  known.users += 1;
  return { url: known.coming, giveBack: () => giveBack(digest, known) };
}

function begun(digest: string): Held {
  const made: Held = {
    users: 0,
    url: "",
    coming: fetched(digest).then(
      (url) => {
        made.url = url;
        if (held.get(digest) !== made) URL.revokeObjectURL(url); // nobody waits for it any more
        return url;
      },
      (error: unknown) => {
        if (held.get(digest) === made) held.delete(digest); // the next one tries again
        throw error;
      },
    ),
  };
  held.set(digest, made);
  return made;
}

function giveBack(digest: string, known: Held): void {
  known.users -= 1;
  if (known.users > 0 || held.get(digest) !== known) return;
  held.delete(digest);
  held.set(digest, known);
  const unused = [...held].filter(([, one]) => one.users === 0);
  for (const [old, one] of unused.slice(0, Math.max(0, unused.length - MOST_UNUSED))) {
    held.delete(old);
    if (one.url !== "") URL.revokeObjectURL(one.url);
  }
}
