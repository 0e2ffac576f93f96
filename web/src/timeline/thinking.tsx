import type { ReactNode } from "react";
import { Disclosure } from "../parts/disclosure.tsx";
import { duration } from "../parts/spoken.ts";
import { useSettings } from "../parts/use-store.ts";
import { Whole } from "../parts/whole.tsx";
import type { TextItem } from "../store/items.ts";
import { Prose } from "../text/prose.tsx";
import style from "./entry.module.css";

/** Thoughts: seen as they come, one line once they are over. */
export function Thinking({
  session,
  item,
}: {
  readonly session: string;
  readonly item: TextItem;
}): ReactNode {
  const { thinking } = useSettings();
  const live = item.status === "open";
  const took = item.endedMs - item.atMs;
  const title = live ? "Thinking" : took < 1000 ? "Thought" : `Thought for ${duration(took)}`;
  if (item.text === "" && !live) {
    return <p className={style.aside}>{item.redacted ? `${title}, hidden by the model` : title}</p>;
  }
  return (
    <div className={style.thinking}>
      <Disclosure id={`${session}:${item.id}`} title={title} open={live && thinking}>
        <Whole text={item.text} blob={item.blob}>
          {(text) => <Prose text={text} live={live} />}
        </Whole>
      </Disclosure>
    </div>
  );
}
