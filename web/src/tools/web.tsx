import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import { fieldsOf, numberOf, textOf } from "../store/values.ts";
import { Prose } from "../text/prose.tsx";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { sourcesOf } from "./sources.ts";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

/** A page or a search: what was learned, and where from. */
export function Web({ store, item }: BodyProps): ReactNode {
  const given = fieldsOf(inputOf(item));
  const detail = fieldsOf(item.detail);
  const sources = sourcesOf(detail["results"] ?? null, item.subject.url || textOf(given["url"]));
  if (item.status === "error") return <Output store={store} item={item} />;
  const status = numberOf(detail["code"]);
  return (
    <div className={style.stack}>
      {sources.length > 0 && (
        <ul className={style.sources} aria-label="Sources">
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
