import type { ReactNode } from "react";
import type { Attention } from "../store/attention.ts";
import style from "./mark.module.css";

const SAID: Readonly<Record<Attention, string>> = {
  waiting: "needs you",
  running: "working",
  failed: "failed",
  idle: "ready",
  off: "asleep",
  closed: "closed",
};

interface Props {
  readonly state: Attention;
  /** Words beside it say the same: it is only seen. */
  readonly silent?: boolean;
}

/** The state of a session as a small shape; the shape tells it without the colour. */
export function Mark({ state, silent = false }: Props): ReactNode {
  const heard = silent
    ? ({ "aria-hidden": true } as const)
    : ({ role: "img", "aria-label": SAID[state] } as const);
  return (
    <span className={`${style.mark} ${style[state]}`} {...heard}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        {shapes[state]}
      </svg>
    </span>
  );
}

const shapes: Readonly<Record<Attention, ReactNode>> = {
  waiting: (
    <>
      <circle cx="6" cy="6" r="2.5" fill="currentColor" stroke="none" />
      <circle cx="6" cy="6" r="5" />
    </>
  ),
  running: <path d="M6 1.5a4.5 4.5 0 1 1-4.5 4.5" />,
  failed: <path d="M3 3l6 6M9 3l-6 6" />,
  idle: <circle cx="6" cy="6" r="3.5" />,
  off: <path d="M3 6h6" />,
  closed: <path d="M2.5 6.5l2.5 2.5 4.5-5.5" />,
};
