/** A line of code, drawn run by run. */

import type { Run } from "./fence.ts";
import { KINDS } from "./palette.ts";
import "./syntax.css";

export function Coloured({ runs }: { runs: readonly Run[] }) {
  return runs.map(({ text, kind }, at) =>
    kind === 0 ? (
      text
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- runs have no other name
      <span key={at} className={`syn-${KINDS[kind] ?? "plain"}`}>
        {text}
      </span>
    ),
  );
}
