import type { ReactNode } from "react";
import { fieldsOf, textOf } from "../store/values.ts";
import { Code } from "../text/code.tsx";
import { Prose } from "../text/prose.tsx";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

const DONE: Readonly<Record<string, string>> = {
  replace: "Replaced",
  insert: "New",
  delete: "Deleted",
};

/** A cell of a notebook: code as code, words as words. */
export function Notebook({ store, item }: BodyProps): ReactNode {
  const given = fieldsOf(inputOf(item));
  const mode = textOf(given["edit_mode"]) || "replace";
  const markdown = textOf(given["cell_type"]) === "markdown";
  const source = textOf(given["new_source"]);
  const cell = textOf(given["cell_id"]);
  return (
    <div className={style.stack}>
      <p className={style.meta}>
        {DONE[mode] ?? mode} {markdown ? "markdown" : "code"} cell{cell === "" ? "" : ` ${cell}`}
      </p>
      {mode !== "delete" && (
        <Cell source={source} lang={markdown ? "markdown" : languageOf(item.detail)} />
      )}
      {item.status !== "ok" && <Output store={store} item={item} />}
    </div>
  );
}

/** One cell: markdown as the page it makes, anything else as code. */
export function Cell({
  source,
  lang,
}: {
  readonly source: string;
  readonly lang: string;
}): ReactNode {
  const markdown = lang === "markdown";
  return (
    <div className={style.nested} data-cell={markdown ? "markdown" : "code"}>
      {markdown ? <Prose text={source} /> : <Code text={source} lang={lang} />}
    </div>
  );
}

function languageOf(detail: unknown): string {
  return textOf(fieldsOf(detail)["language"]) || "python";
}
