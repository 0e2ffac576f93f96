import type { ReactNode } from "react";
import { DiffView } from "../diff/diff-view.tsx";
import type { Preview } from "../diff/preview.ts";
import { useSettings } from "../parts/use-store.ts";
import { shortPath } from "./target.ts";

interface Props {
  readonly id: string;
  readonly preview: Preview;
  readonly cwd: string;
  readonly note: string;
}

/** A change as it is asked for: nobody has made it yet. */
export function Previewed({ id, preview, cwd, note }: Props): ReactNode {
  const { diff: mode } = useSettings();
  const { path, hunks, numbered } = preview;
  const shown = shortPath(path, cwd);
  return (
    <DiffView id={id} path={shown} hunks={hunks} mode={mode} numbered={numbered} note={note} />
  );
}
