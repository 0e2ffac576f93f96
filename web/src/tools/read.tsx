import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import { fieldsOf, listOf, numberOf, textOf } from "../store/values.ts";
import { Code } from "../text/code.tsx";
import type { BodyProps } from "./body.ts";
import { Cell } from "./notebook.tsx";
import { Output } from "./output.tsx";
import { hasPicture } from "./picture-data.ts";
import { Pictures } from "./pictures.tsx";
import { inputOf, shortPath } from "./target.ts";
import style from "./body.module.css";

/** A file as it was read, with its own line numbers. */
export function Read({ store, item, cwd }: BodyProps): ReactNode {
  if (item.status !== "ok") return <Output store={store} item={item} />;
  if (hasPicture(item)) return <Pictures item={item} />;
  const file = fieldsOf(fieldsOf(item.detail)["file"]);
  const cells = listOf(file["cells"]);
  if (cells.length > 0) {
    return (
      <div className={style.stack}>
        {cells.map((raw, at) => {
          const cell = fieldsOf(raw);
          const markdown = textOf(cell["cellType"]) === "markdown";
          return (
            <Cell
              // oxlint-disable-next-line react/no-array-index-key -- cells may have no other name
              key={at}
              source={textOf(cell["source"])}
              lang={markdown ? "markdown" : textOf(cell["language"]) || "python"}
            />
          );
        })}
      </div>
    );
  }
  const path = shortPath(
    item.subject.paths[0] ?? textOf(fieldsOf(inputOf(item))["file_path"]),
    cwd,
  );
  const told = textOf(file["content"]);
  return (
    <div className={style.file}>
      <Whole text={told || unnumbered(item.text)} blob={told === "" ? item.blob : ""}>
        {(text) => (
          <Code
            text={text === told ? text : unnumbered(text)}
            path={path}
            firstLine={numberOf(file["startLine"]) || firstNumber(item.text)}
          />
        )}
      </Whole>
    </div>
  );
}

const NUMBERED = /^ *(\d+)(?:→|\t)/;

/** What the model reads has a number before each line; people get them in a column of their own. */
export function unnumbered(text: string): string {
  if (!NUMBERED.test(text)) return text;
  return text
    .split("\n")
    .map((line) => line.replace(NUMBERED, ""))
    .join("\n");
}

function firstNumber(text: string): number {
  return Number(NUMBERED.exec(text)?.[1] ?? 1);
}
