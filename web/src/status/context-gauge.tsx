import type { ReactNode } from "react";
import { count } from "../parts/spoken.ts";
import { useKey } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { fillOf, levelOf, shareOf } from "../store/usage.ts";
import style from "./context-gauge.module.css";

const WORDS = { fine: "", nearly: "nearly full", full: "full: compact it" } as const;

/** How much of the model's memory is used; the bar says it at a glance, the words exactly. */
export function ContextGauge({
  store,
  wide = false,
}: {
  readonly store: SessionStore;
  readonly wide?: boolean;
}): ReactNode {
  const gauges = useKey(store.emitter, "gauges", () => store.gauges);
  const fill = fillOf(gauges);
  if (fill === undefined || fill.window <= 0) return null;
  const share = shareOf(fill);
  const level = levelOf(share);
  const percent = Math.round(share * 100);
  const warning = level === "fine" ? "" : ` · ${WORDS[level]}`;
  return (
    <span className={wide ? style.wide : style.gauge} data-level={level}>
      <span
        className={style.bar}
        role="meter"
        aria-label="Context used"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        aria-valuetext={`${percent} % of ${count(fill.window)} tokens${warning}`}
      >
        <span className={style.full} style={{ inlineSize: `${percent}%` }} />
      </span>
      {/* short, they are what the meter says already */}
      <span className={style.words} aria-hidden={!wide}>
        {wide ? `${count(fill.tokens)} of ${count(fill.window)} tokens` : `${percent} %`}
        {warning}
      </span>
    </span>
  );
}
