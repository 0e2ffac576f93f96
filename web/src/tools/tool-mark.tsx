import type { ReactNode } from "react";
import type { ToolStatus } from "../store/items.ts";
import style from "./tool-card.module.css";

const SAID: Readonly<Record<ToolStatus, string>> = {
  writing: "being written",
  running: "running",
  ok: "done",
  error: "failed",
  denied: "denied",
  partial: "cut off",
  discarded: "taken back",
};

/** A shape for each state, so that it can be told without the colour. */
export function ToolMark({ status }: { readonly status: ToolStatus }): ReactNode {
  return (
    <span className={`${style.mark} ${style[status]}`} role="img" aria-label={SAID[status]}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        <path d={SHAPES[status]} />
      </svg>
    </span>
  );
}

const ARC = "M6 1.5a4.5 4.5 0 1 1-4.5 4.5";
const CROSS = "M3 3l6 6M9 3l-6 6";
const SHAPES: Readonly<Record<ToolStatus, string>> = {
  writing: ARC,
  running: ARC,
  ok: "M2.5 6.5l2.5 2.5 4.5-5.5",
  error: CROSS,
  denied: "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9M3 3l6 6",
  partial: "M2.5 6h7",
  discarded: "M2.5 6h7",
};
