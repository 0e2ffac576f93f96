import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import { fieldsOf, numberOf, textOf } from "../store/values.ts";
import { Code } from "../text/code.tsx";
import type { BodyProps } from "./body.ts";
import { Output } from "./generic.tsx";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

const PICTURES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** A file as it was read, with its own line numbers. */
export function Read({ item }: BodyProps): ReactNode {
  if (item.status !== "ok") return <Output item={item} />;
  const file = fieldsOf(fieldsOf(item.detail)["file"]);
  const kind = textOf(file["type"]);
  if (PICTURES.has(kind) && textOf(file["base64"]) !== "") {
    return (
      <img
        className={style.picture}
        src={`data:${kind};base64,${textOf(file["base64"])}`}
        alt="The file"
      />
    );
  }
  const path = textOf(fieldsOf(inputOf(item))["file_path"]);
  const told = textOf(file["content"]);
  return (
    <Whole text={told || unnumbered(item.text)} blob={item.blob}>
      {(text) => (
        <Code
          text={text === told ? text : unnumbered(text)}
          path={path}
          firstLine={numberOf(file["startLine"]) || firstNumber(item.text)}
        />
      )}
    </Whole>
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
