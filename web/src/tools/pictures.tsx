import { type ReactNode, useEffect, useState } from "react";
import { blobText, blobTextHere } from "../link/blobs.ts";
import { wordsOf } from "../link/errors.ts";
import type { Json, ToolItem } from "../store/items.ts";
import { fieldsOf, parsed, textOf } from "../store/values.ts";
import { hasPicture, picturesIn } from "./picture-data.ts";
import style from "./body.module.css";

/** The pictures in what a tool brought back. */
export function Pictures({ item }: { readonly item: ToolItem }): ReactNode {
  const wanted = hasPicture(item);
  const { detail, problem } = useWholeDetail(item, wanted);
  if (!wanted) return null;
  if (problem !== "")
    return <p className={style.meta}>The picture could not be shown: {problem}</p>;
  return picturesIn(detail).map((one, at) => (
    <img
      // oxlint-disable-next-line react/no-array-index-key -- they never change their order
      key={at}
      className={style.picture}
      src={`data:${one.type};base64,${one.data}`}
      alt={`What ${item.name} brought back`}
    />
  ));
}

/** A detail that was too long for the log is fetched, if it is `wanted`. */
function useWholeDetail(item: ToolItem, wanted: boolean): { detail: Json; problem: string } {
  const blob = textOf(fieldsOf(item.detail)["_blob"]);
  const [, setCame] = useState(0);
  const [problem, setProblem] = useState("");
  const text = blob === "" ? undefined : blobTextHere(blob);
  const missing = wanted && blob !== "" && text === undefined;
  useEffect(() => {
    if (!missing) return undefined;
    let over = false;
    blobText(blob).then(
      () => over || setCame((n) => n + 1),
      (error: unknown) => over || setProblem(wordsOf(error)),
    );
    return () => {
      over = true;
    };
  }, [missing, blob]);
  return { detail: text === undefined ? (item.detail ?? null) : (parsed(text) ?? null), problem };
}
