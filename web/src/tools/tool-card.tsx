import { ChevronRight } from "lucide-react";
import { type ReactNode, createElement, useId } from "react";
import { Mark } from "../parts/mark.tsx";
import { useOpened } from "../parts/opened.ts";
import { duration, elapsed } from "../parts/spoken.ts";
import { useSeconds } from "../parts/use-seconds.ts";
import { useApp, usePrompts, useView } from "../parts/use-store.ts";
import type { Decision, ToolItem } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { callsAbove } from "../store/waits.ts";
import { fieldsOf } from "../store/values.ts";
import { visible } from "../text/control.ts";
import { Asked } from "./asked.tsx";
import { labelOf } from "./names.ts";
import { bodyOf, opensItself } from "./registry.tsx";
import { changedLines, summaryOf } from "./summary.ts";
import { targetOf } from "./target.ts";
import { ToolMark } from "./tool-mark.tsx";
import { useInput } from "./use-input.ts";
import style from "./tool-card.module.css";

interface Props {
  readonly store: SessionStore;
  readonly item: ToolItem;
}

/** Shorter ones are not worth a figure. */
const WORTH_MS = 1000;

/** A tool in one line: what it does, on what, what came of it. The rest opens in place. */
export function ToolCard({ store, item: told }: Props): ReactNode {
  const cwd = useView(store)?.cwd ?? "";
  const [open, setOpen] = useOpened(`${store.session}:${told.id}`, opensItself(told));
  const item = useInput(told, open);
  const asked = usePrompts(store).some(
    (one) => one.item === item.id || callsAbove(store.transcript.items, one).includes(item.id),
  );
  const body = useId();
  const { added, removed } = changedLines(item);
  const summary = summaryOf(item);
  return (
    <section className={style.card} data-tool={item.name} data-status={item.status}>
      <button
        type="button"
        className={style.line}
        aria-expanded={open}
        aria-controls={body}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight className={style.arrow} aria-hidden="true" />
        {asked ? (
          <Mark state="waiting" silent />
        ) : (
          <ToolMark status={item.stopped ? "partial" : item.status} />
        )}
        <span className={style.verb}>{visible(labelOf(item.name, item.tool))}</span>
        <span className={style.target}>{visible(targetOf(item, cwd))}</span>
        <span className={style.end}>
          <Changed item={item} />
          {added + removed > 0 && (
            <span>
              <span className={style.plus}>+{added}</span>{" "}
              <span className={style.minus}>−{removed}</span>
            </span>
          )}
          {asked ? (
            <span className={style.asked}>waits for you</span>
          ) : (
            summary !== "" && <span>{summary}</span>
          )}
          {!asked && <Took item={item} />}
        </span>
      </button>
      {open && (
        <div id={body} className={style.body}>
          {createElement(bodyOf(item), { store, item, cwd })}
          <Decided item={item} />
          <Asked store={store} item={item} cwd={cwd} />
        </div>
      )}
    </section>
  );
}

/** It did not run as the agent had written it. */
function Changed({ item }: Pick<Props, "item">): ReactNode {
  const { welcome } = useApp();
  const by = item.decision?.edited === true ? item.decision.by : "";
  if (by === "" && fieldsOf(item.detail)["userModified"] !== true) return null;
  const who = by === "" ? "a person" : by === welcome?.principal ? "you" : by;
  return <span className={style.edited}>changed by {who}</span>;
}

/** How long it worked, or has been working for; the time its prompts were open does not count. */
function Took({ item }: Pick<Props, "item">): ReactNode {
  const running = item.status === "running" && item.runMs > 0;
  const now = useSeconds(running);
  const took = (running ? now : item.endedMs) - item.runMs - item.waitedMs;
  if (item.runMs === 0 || took < WORTH_MS) return null;
  return <span className={style.took}>{running ? elapsed(took) : duration(took)}</span>;
}

/** Who let it run, or did not, and with which words. */
function Decided({ item }: { readonly item: ToolItem }): ReactNode {
  const { welcome } = useApp();
  const decision = item.decision;
  if (decision === undefined) {
    if (item.status !== "denied" || item.stopped) return null;
    return <p className={style.decided}>Denied by a rule or the mode, without asking anybody</p>;
  }
  const who = decision.by === welcome?.principal ? "you" : decision.by;
  const words = [
    DECIDED[decision.how],
    who === "" ? "" : `by ${who}`,
    decision.edited ? "with a changed input" : "",
    decision.kept > 0 ? `and from now on (${decision.place || "session"})` : "",
  ].filter((one) => one !== "");
  return (
    <p className={style.decided}>
      {words.join(" ")}
      {decision.message !== "" && `: ${decision.message}`}
    </p>
  );
}

const DECIDED: Readonly<Record<Decision["how"], string>> = {
  allowed: "Allowed",
  answered: "Answered",
  declined: "Declined",
  denied: "Denied",
  auto: "Decided by a rule",
  cancelled: "The question was taken back",
  expired: "Nobody answered in time",
  orphaned: "The agent ended before anybody answered",
};
