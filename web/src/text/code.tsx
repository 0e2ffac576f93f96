/** A block of code with its colours, its language and a button to copy it. */

import { type ReactNode, memo, useMemo } from "react";
import { Near } from "../parts/near.tsx";
import style from "./code.module.css";
import { visible } from "./control.ts";
import { Coloured } from "./coloured.tsx";
import { CopyButton } from "./copy-button.tsx";
import { type LineColours, runsOf } from "./fence.ts";
import { type Language, languageOf, languageOfPath } from "./languages.ts";
import { useColours } from "./use-colours.tsx";

export interface CodeProps {
  readonly text: string;
  /** The name of a language as people write it; without it the path decides. */
  readonly lang?: string;
  readonly path?: string;
  /** The last line may still grow. */
  readonly open?: boolean;
  /** The number of the first line; without it lines have no numbers. */
  readonly firstLine?: number;
}

/** Lines are drawn in groups: only the group that changed is drawn again. */
const GROUP = 50;
/** Of more lines only those are drawn that are near what is seen. */
const MANY = 1000;

export const Code = memo(function Code(props: CodeProps) {
  const { text, lang = "", path = "", open = false, firstLine } = props;
  const shown = useMemo(() => visible(text), [text]);
  const language = languageOf(lang) ?? languageOfPath(path);
  const colours = useColours(shown, language, open);
  const name = path || lang || "";
  return (
    <div className={style.block}>
      <div className={style.bar}>
        <span className={style.name}>{visible(name)}</span>
        <CopyButton text={shown} label="Copy code" />
      </div>
      <Scroll label={labelOf(name, language)}>
        <Lines text={shown} colours={colours} firstLine={firstLine} />
      </Scroll>
    </div>
  );
});

function labelOf(name: string, language: Language | null): string {
  return name === "" ? "Code" : `Code, ${visible(name) || language}`;
}

/** What scrolls sideways must be reachable by keyboard. */
export function Scroll({ label, children }: { label: string; children: ReactNode }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys scroll it
    <pre className={style.scroll} role="group" aria-label={label} tabIndex={0}>
      <code>{children}</code>
    </pre>
  );
}

interface LinesProps {
  readonly text: string;
  readonly colours: readonly LineColours[];
  readonly firstLine: number | undefined;
}

function Lines({ text, colours, firstLine }: LinesProps) {
  const lines = text.split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  const groups: ReactNode[] = [];
  for (let from = 0; from < lines.length; from += GROUP) {
    const part = lines.slice(from, from + GROUP);
    const number = firstLine === undefined ? undefined : firstLine + from;
    const group = (
      <LineGroup
        key={from}
        text={part.join("\n")}
        colours={colours}
        from={from}
        ready={Math.max(0, Math.min(part.length, colours.length - from))}
        firstLine={number}
        last={from + GROUP >= lines.length}
      />
    );
    groups.push(
      lines.length <= MANY ? (
        group
      ) : (
        <Near key={from} rows={part.length} first={from === 0}>
          {() => group}
        </Near>
      ),
    );
  }
  return groups;
}

interface LineGroupProps extends LinesProps {
  readonly from: number;
  /** How many of its lines have colours. */
  readonly ready: number;
  readonly last: boolean;
}

const LineGroup = memo(function LineGroup(props: LineGroupProps) {
  const { text, colours, from, ready, firstLine, last } = props;
  const end = last ? "" : "\n";
  if (ready === 0 && firstLine === undefined) return text + end;
  const lines = text.split("\n");
  return lines.map((line, at) => (
    // oxlint-disable-next-line react/no-array-index-key -- lines have no other name
    <Line key={at} number={firstLine === undefined ? undefined : firstLine + at}>
      <Coloured runs={runsOf(line, at < ready ? colours[from + at] : undefined)} />
      {at === lines.length - 1 ? end : "\n"}
    </Line>
  ));
}, sameGroup);

/** Colours come in their order and never change, so their number tells enough. */
function sameGroup(before: LineGroupProps, after: LineGroupProps): boolean {
  return (
    before.text === after.text &&
    before.ready === after.ready &&
    before.last === after.last &&
    before.firstLine === after.firstLine &&
    before.colours[before.from] === after.colours[after.from]
  );
}

function Line({ number, children }: { number: number | undefined; children: ReactNode }) {
  if (number === undefined) return children;
  return (
    <>
      <span className={style.number} aria-hidden="true" data-line={number} />
      {children}
    </>
  );
}
