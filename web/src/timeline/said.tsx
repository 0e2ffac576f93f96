import type { ReactNode } from "react";
import { Whole } from "../parts/whole.tsx";
import type { TextItem } from "../store/items.ts";
import { Prose } from "../text/prose.tsx";
import style from "./entry.module.css";

/** What the agent says. */
export function Said({ item }: { readonly item: TextItem }): ReactNode {
  const live = item.status === "open";
  if (item.text === "" && item.blob === "") return null;
  return (
    <article
      className={style.said}
      aria-label="Agent"
      data-status={item.status}
      data-command={item.command || undefined}
    >
      <Whole text={item.text} blob={item.blob} eager>
        {(text) => <Prose text={text} live={live} />}
      </Whole>
      {item.status === "partial" && <p className={style.cut}>It was stopped here.</p>}
    </article>
  );
}
