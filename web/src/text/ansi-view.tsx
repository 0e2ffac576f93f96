/** What a command printed. */

import { type CSSProperties, memo, useMemo } from "react";
import { type AnsiSpan, ansi } from "./ansi.ts";
import "./ansi.css";
import { Scroll } from "./code.tsx";

export interface AnsiProps {
  readonly text: string;
  /** What it is, for those who hear it. */
  readonly label?: string;
}

export const Ansi = memo(function Ansi({ text, label = "Output" }: AnsiProps) {
  const spans = useMemo(() => ansi(text), [text]);
  return (
    <Scroll label={label}>
      {spans.map((span, at) =>
        span.className === "" ? (
          span.text
        ) : (
          // oxlint-disable-next-line react/no-array-index-key -- spans have no other name
          <span key={at} className={span.className} style={styleOf(span)}>
            {span.text}
          </span>
        ),
      )}
    </Scroll>
  );
});

type Coloured = CSSProperties & Partial<Record<"--ansi-fg" | "--ansi-bg", string>>;

function styleOf({ fg, bg }: AnsiSpan): Coloured | undefined {
  if (fg === "" && bg === "") return undefined;
  return { ...(fg === "" ? {} : { "--ansi-fg": fg }), ...(bg === "" ? {} : { "--ansi-bg": bg }) };
}
