/** Where a person logs in to an MCP server: the gateway says it in the log, once it was asked. */
import type { Item } from "../store/items.ts";

export interface LogIn {
  readonly address: string;
  /** It leads back to a port of the agent's machine: a browser elsewhere does not get there. */
  readonly onItsMachine: boolean;
}

/** The newest address for this server; undefined: nobody asked for one. */
export function logInOf(server: string, items: Iterable<Item>): LogIn | undefined {
  const words = `log in to ${server}`;
  let found: LogIn | undefined;
  for (const item of items) {
    if (item.kind !== "note" || item.note !== "notice" || !item.text.startsWith(words)) continue;
    const [between = "", address = ""] = item.text.slice(words.length).split(/: (?=\S+$)/);
    if (isAddress(address)) found = { address, onItsMachine: between !== "" };
  }
  return found;
}

function isAddress(text: string): boolean {
  return /^https?:\/\/\S+$/.test(text);
}
