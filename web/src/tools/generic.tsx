import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import type { Json } from "../store/items.ts";
import { type Fields, isFields, parsed } from "../store/values.ts";
import { Code } from "../text/code.tsx";
import { visible } from "../text/control.ts";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { Pictures } from "./pictures.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

/** Everything it was given, and everything it said. */
export function Generic({ store, item }: BodyProps): ReactNode {
  const said = item.status === "ok" && item.blob === "" ? objectIn(item.text) : "";
  return (
    <div className={style.stack}>
      <Given given={inputOf(item)} draft={item.draft} blob={item.inputBlob} />
      <Pictures item={item} />
      {said === "" ? <Output store={store} item={item} /> : <Code text={said} lang="json" />}
    </div>
  );
}

interface GivenProps {
  readonly given: Json;
  readonly draft: string;
  readonly blob: string;
}

export function Given({ given, draft, blob }: GivenProps): ReactNode {
  if (isFields(given) && isPlain(given)) {
    return (
      <dl className={style.given}>
        {Object.entries(given).map(([name, value]) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd>{visible(String(value))}</dd>
          </div>
        ))}
      </dl>
    );
  }
  const shown = given === null ? draft : JSON.stringify(given, null, 2);
  if (shown === "") return null;
  return (
    <Whole text={shown} blob={blob}>
      {(text) => <Code text={text} lang="json" />}
    </Whole>
  );
}

const LINE = 200;

/** A few names with short values need no braces. */
function isPlain(given: Fields): boolean {
  return Object.values(given).every(
    (value) => typeof value !== "object" && String(value).length <= LINE,
  );
}

/** What a machine said to a machine, set out for people; "": it is no such thing. */
export function objectIn(text: string): string {
  if (!/^\s*[[{]/.test(text)) return "";
  const value = parsed(text);
  return typeof value === "object" && value !== null ? JSON.stringify(value, null, 2) : "";
}
