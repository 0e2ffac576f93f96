/** A text that may be too long: its two ends, and a button for all of it. */

import { type ReactNode, useState } from "react";
import { LONG, endsOf, sizeText } from "./long.ts";
import style from "./long.module.css";

export interface LongTextProps {
  readonly text: string;
  /** Letters that are shown without asking. */
  readonly limit?: number;
  /** The size of all of it, if `text` is only what was sent; 0: this is all. */
  readonly total?: number;
  /** Fetches the rest; afterwards `text` is expected to be whole. */
  readonly onShowAll?: () => void;
  /** Draws a part of the text. */
  readonly children: (part: string) => ReactNode;
}

export function LongText({ text, limit = LONG, total = 0, onShowAll, children }: LongTextProps) {
  const [all, setAll] = useState(false);
  const ends = all ? null : endsOf(text, limit);
  const missing = Math.max(0, total - text.length);
  const showAll = (): void => {
    setAll(true);
    onShowAll?.();
  };
  const hidden = (ends?.hidden ?? 0) + missing;
  const more = hidden > 0 && !all && (
    <button type="button" className={style.more} onClick={showAll}>
      {`Show all (${sizeText(hidden)} more)`}
    </button>
  );
  if (ends === null) {
    return (
      <>
        {children(text)}
        {more}
      </>
    );
  }
  return (
    <>
      {children(ends.head)}
      {more}
      {children(ends.tail)}
    </>
  );
}
