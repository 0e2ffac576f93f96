/**
 * Resources of MCP servers that can be named in a message, as `@server:address`.
 *
 * No agent tells them unasked, so the ones that are known are those it has listed in this session.
 */
import type { Item } from "../store/items.ts";
import { fieldsOf, listOf, parsed, textOf } from "../store/values.ts";

export interface Resource {
  readonly server: string;
  readonly uri: string;
  readonly name: string;
}

const LISTS = "ListMcpResourcesTool";

export function resourcesOf(items: Iterable<Item>): readonly Resource[] {
  const found = new Map<string, Resource>();
  for (const item of items) {
    if (item.kind !== "tool" || item.name !== LISTS || item.status !== "ok") continue;
    for (const raw of listOf(item.detail ?? parsed(item.text))) {
      const one = fieldsOf(raw);
      const [server, uri] = [textOf(one["server"]), textOf(one["uri"])];
      // one with a space in it could not be told from the words around it
      if (server === "" || uri === "" || /\s/.test(server + uri)) continue;
      found.set(`${server}:${uri}`, { server, uri, name: textOf(one["name"]) });
    }
  }
  return [...found.values()];
}
