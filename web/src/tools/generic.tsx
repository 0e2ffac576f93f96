import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import { Ansi } from "../text/ansi-view.tsx";
import { Code } from "../text/code.tsx";
import { LongText } from "../text/long-text.tsx";
import type { BodyProps } from "./body.ts";
import { inputOf } from "./target.ts";
import style from "./body.module.css";

/** Everything it was given, and everything it said. */
export function Generic({ item }: BodyProps): ReactNode {
  const given = inputOf(item);
  const shown = given === null ? item.draft : JSON.stringify(given, null, 2);
  return (
    <div className={style.stack}>
      {shown !== "" && (
        <Whole text={shown} blob={item.inputBlob}>
          {(text) => <Code text={text} lang="json" />}
        </Whole>
      )}
      <Output item={item} />
    </div>
  );
}

/** What a tool printed: as it comes, then all of it. */
export function Output({ item }: Pick<BodyProps, "item">): ReactNode {
  if (item.text === "" && item.blob === "") return null;
  return (
    <div className={item.status === "error" ? style.failed : style.output}>
      <Whole text={withoutTags(item.text)} blob={item.blob}>
        {(text) => <LongText text={text}>{(part) => <Ansi text={part} />}</LongText>}
      </Whole>
    </div>
  );
}

/** An agent wraps its own errors in a mark that is for the model. */
export function withoutTags(text: string): string {
  return text.replace(/^<tool_use_error>([\s\S]*?)(<\/tool_use_error>)?$/, "$1");
}
