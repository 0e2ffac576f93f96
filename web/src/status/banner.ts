/** What a person is told of the connection; "": nothing, all is well. */
import type { Connection } from "../link/link.ts";

export type Told = "" | "lost" | "unplugged" | "refused" | "newer" | "stale";

/** `known`: it was online before, or has taken too long. `stale`: the gateway has another page. */
export function bannerOf(
  connection: Connection,
  plugged: boolean,
  known: boolean,
  stale = false,
): Told {
  if (connection === "refused" || connection === "newer") return connection;
  if (connection === "online") return stale ? "stale" : "";
  if (!known) return "";
  return plugged ? "lost" : "unplugged";
}

/** What becomes of what is sent meanwhile, in whichever session. */
export function waitingWords(count: number): string {
  if (count === 0) return "What you send is kept and sent once.";
  return count === 1
    ? "1 message waits, and is sent once."
    : `${count} messages wait, and each is sent once.`;
}
