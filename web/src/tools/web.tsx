import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import type { Json } from "../store/items.ts";
import { fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";
import { safeLink } from "../text/addresses.ts";
import { Prose } from "../text/prose.tsx";
import type { BodyProps } from "./body.ts";
import { Output } from "./generic.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

interface Source {
  readonly title: string;
  readonly url: string;
}

/** A page or a search: what was learned, and where from. */
export function Web({ item }: BodyProps): ReactNode {
  const given = fieldsOf(inputOf(item));
  const detail = fieldsOf(item.detail);
  const sources = sourcesOf(detail["results"] ?? null, textOf(given["url"]));
  if (item.status === "error") return <Output item={item} />;
  const status = numberOf(detail["code"]);
  return (
    <div className={style.stack}>
      {sources.length > 0 && (
        <ul className={style.files} aria-label="Sources">
          {sources.map((one) => (
            <li key={one.url}>
              <a href={one.url} target="_blank" rel="noopener noreferrer">
                {one.title || one.url}
              </a>
            </li>
          ))}
        </ul>
      )}
      {status > 0 && (
        <p className={style.meta}>
          {status} {textOf(detail["codeText"])}
        </p>
      )}
      {textOf(given["prompt"]) !== "" && <p className={style.meta}>{textOf(given["prompt"])}</p>}
      <Whole text={textOf(detail["result"]) || item.text} blob={item.blob}>
        {(text) => <Prose text={text} />}
      </Whole>
    </div>
  );
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
