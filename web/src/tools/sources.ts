/** Pages that a search found, or that were fetched. */
import type { Json } from "../store/items.ts";
import { fieldsOf, listOf, textOf } from "../store/values.ts";
import { safeLink } from "../text/addresses.ts";

interface Source {
  readonly title: string;
  readonly url: string;
}

export function sourcesOf(results: Json, url: string): readonly Source[] {
  const found: Source[] = [];
  const take = (raw: Json): void => {
    const one = fieldsOf(raw);
    const href = safeLink(textOf(one["url"]));
    if (href !== "" && !found.some((known) => known.url === href)) {
      found.push({ title: textOf(one["title"]), url: href });
    }
    for (const inner of listOf(one["content"])) take(inner);
  };
  take({ url });
  for (const one of listOf(results)) take(one);
  return found;
}
