import { own } from "../store/values.ts";
import type { ReactNode } from "react";
import { duration, money } from "../parts/spoken.ts";
import type { ResultItem } from "../store/items.ts";
import style from "./entry.module.css";

const WORDS: Readonly<Record<ResultItem["reason"], string>> = {
  done: "Done",
  error: "Failed",
  interrupted: "Interrupted",
  limit: "Stopped at a limit",
  agent_exited: "The agent ended",
};

/** How a turn ended, in one line. */
export function ResultLine({ item }: { readonly item: ResultItem }): ReactNode {
  const bad = item.reason === "error" || item.reason === "agent_exited";
  const parts = [
    own(WORDS, item.reason),
    item.startedMs > 0 && item.atMs - item.startedMs >= 100
      ? duration(item.atMs - item.startedMs)
      : "",
    item.costUsd > 0 ? `+${money(item.costUsd)}` : "",
  ].filter((one) => one !== "");
  return (
    <div className={style.result} data-reason={item.reason}>
      <p className={bad ? style.bad : undefined}>
        {parts.join(" · ")}
        {(item.added > 0 || item.removed > 0) && (
          <>
            {" · "}
            <span className={style.plus}>+{item.added}</span>{" "}
            <span className={style.minus}>−{item.removed}</span>
          </>
        )}
      </p>
      {item.message !== "" && <p className={style.message}>{item.message}</p>}
    </div>
  );
}
