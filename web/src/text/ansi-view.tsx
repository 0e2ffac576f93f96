/** What a command printed. */

import { type CSSProperties, memo, useMemo } from "react";
import { Near } from "../parts/near.tsx";
import { type AnsiSpan, ansi } from "./ansi.ts";
import "./ansi.css";
import { Scroll } from "./code.tsx";
import { LONG } from "./long.ts";
import { isWide, partsOf } from "./output-parts.ts";

export interface AnsiProps {
  readonly text: string;
  /** What it is, for those who hear it. */
  readonly label?: string;
}

/** A line that nobody would scroll along is broken. */
const WIDE = "ansi-wide";

export const Ansi = memo(function Ansi({ text, label = "Output" }: AnsiProps) {
  return (
    <Scroll label={label}>
      {text.length > LONG ? (
        <Parts text={text} />
      ) : isWide(text) ? (
        <div className={WIDE}>
          <Spans text={text} />
        </div>
      ) : (
        <Spans text={text} />
      )}
    </Scroll>
  );
});

/** So long that only what is seen of it is drawn. */
function Parts({ text }: { readonly text: string }) {
  const parts = useMemo(() => partsOf(text), [text]);
  return parts.map((one, at) => (
    // oxlint-disable-next-line react/no-array-index-key -- parts have no other name
    <Near key={at} rows={one.rows} first={at === 0} className={one.wide ? WIDE : undefined}>
      {() => <Spans text={one.colours + one.text} />}
    </Near>
  ));
}

function Spans({ text }: { readonly text: string }) {
  const spans = useMemo(() => ansi(text), [text]);
  return spans.map((span, at) =>
    span.className === "" ? (
      span.text
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- spans have no other name
      <span key={at} className={span.className} style={styleOf(span)}>
        {span.text}
      </span>
    ),
  );
}

type Coloured = CSSProperties & Partial<Record<"--ansi-fg" | "--ansi-bg", string>>;

function styleOf({ fg, bg }: AnsiSpan): Coloured | undefined {
  if (fg === "" && bg === "") return undefined;
  return { ...(fg === "" ? {} : { "--ansi-fg": fg }), ...(bg === "" ? {} : { "--ansi-bg": bg }) };
}
