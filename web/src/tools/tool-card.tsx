import { ChevronRight } from "lucide-react";
import { type ReactNode, createElement, useId } from "react";
import { useOpened } from "../parts/opened.ts";
import { duration } from "../parts/spoken.ts";
import { useApp, usePrompts, useView } from "../parts/use-store.ts";
import type { ToolItem } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { visible } from "../text/control.ts";
import { labelOf } from "./names.ts";
import { bodyOf, opensItself } from "./registry.tsx";
import { changedLines, summaryOf } from "./summary.ts";
import { targetOf } from "./target.ts";
import { ToolMark } from "./tool-mark.tsx";
import style from "./tool-card.module.css";

interface Props {
  readonly store: SessionStore;
  readonly item: ToolItem;
}

/** Shorter ones are not worth a figure. */
const WORTH_MS = 1000;

/** A tool in one line: what it does, on what, what came of it. The rest opens in place. */
export function ToolCard({ store, item }: Props): ReactNode {
  const cwd = useView(store)?.cwd ?? "";
  const [open, setOpen] = useOpened(`${store.session}:${item.id}`, opensItself(item));
  const asked = usePrompts(store).some((one) => one.item === item.id);
  const body = useId();
  const { added, removed } = changedLines(item);
  const took = item.endedMs - item.runMs;
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
        <ToolMark status={item.status} />
        <span className={style.verb}>{visible(labelOf(item.name))}</span>
        <span className={style.target}>{visible(targetOf(item, cwd))}</span>
        <span className={style.end}>
          {item.decision?.edited === true && <span className={style.edited}>changed by you</span>}
          {added + removed > 0 && (
            <span>
              <span className={style.plus}>+{added}</span>{" "}
              <span className={style.minus}>−{removed}</span>
            </span>
          )}
          {asked ? (
            <span className={style.asked}>waits for you</span>
          ) : (
            <span>{summaryOf(item)}</span>
          )}
          {item.endedMs > 0 && item.runMs > 0 && took >= WORTH_MS && <span>{duration(took)}</span>}
        </span>
      </button>
      {open && (
        <div id={body} className={style.body}>
          {createElement(bodyOf(item.name), { store, item, cwd })}
          <Decided item={item} />
        </div>
      )}
    </section>
  );
}

/** Who let it run, or did not, and with which words. */
function Decided({ item }: { readonly item: ToolItem }): ReactNode {
  const { welcome } = useApp();
  const decision = item.decision;
  if (decision === undefined) return null;
  const who = decision.by === welcome?.principal ? "you" : decision.by;
  const words = [
    decision.how === "allowed"
      ? "Allowed"
      : decision.how === "denied"
        ? "Denied"
        : `Prompt ${decision.how}`,
    who === "" ? "" : `by ${who}`,
    decision.edited ? "with a changed input" : "",
    decision.rules.length > 0 ? `and from now on (${decision.place || "session"})` : "",
  ].filter((one) => one !== "");
  return (
    <p className={style.decided}>
      {words.join(" ")}
      {decision.message !== "" && `: ${decision.message}`}
    </p>
  );
}
