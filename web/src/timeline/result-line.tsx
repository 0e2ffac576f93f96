import { fieldsOf, own, textOf } from "../store/values.ts";
import type { ReactNode } from "react";
import { duration, money } from "../parts/spoken.ts";
import type { ResultItem } from "../store/items.ts";
import { adviceAfter } from "./advice.ts";
import style from "./entry.module.css";

const WORDS: Readonly<Record<ResultItem["reason"], string>> = {
  done: "Done",
  error: "Failed",
  interrupted: "Interrupted",
  limit: "Stopped at a limit",
  agent_exited: "The agent ended",
};

/** Shorter waits are not worth a figure. */
const WAITED_MS = 1000;

/** How long it worked, and how long it waited for a person beside that. */
function took(item: ResultItem): string {
  const ms = item.atMs - item.startedMs;
  if (item.startedMs === 0 || ms < 100) return "";
  const waited = Math.min(item.waitedMs, ms);
  if (waited < WAITED_MS) return duration(ms);
  return `${duration(ms - waited)} + ${duration(waited)} waiting`;
}

interface Props {
  readonly item: ResultItem;
  /** A card beside it says what happened. */
  readonly told: boolean;
}

/** How a turn ended, in one line; and why, where nothing else says so. */
export function ResultLine({ item, told }: Props): ReactNode {
  const why = told ? "" : item.message;
  const advice = adviceAfter(item.reason, textOf(fieldsOf(item.detail)["subtype"]));
  const bad = item.reason === "error" || item.reason === "agent_exited";
  const parts = [
    own(WORDS, told && bad ? "error" : item.reason),
    took(item),
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
      {why !== "" && <p className={style.message}>{why}</p>}
      {why !== "" && advice !== "" && <p>{advice}</p>}
    </div>
  );
}
