/** What a person is told of the connection; "": nothing, all is well. */
import type { Connection } from "../link/link.ts";

export type Told = "" | "lost" | "unplugged" | "refused" | "newer";

/** `known`: it was online before, or has taken too long. */
export function bannerOf(connection: Connection, plugged: boolean, known: boolean): Told {
  if (connection === "refused" || connection === "newer") return connection;
  if (connection === "online" || !known) return "";
  return plugged ? "lost" : "unplugged";
}
