/** Names of files in a text, to be opened by whoever knows how. */

import { type ReactNode, createContext, useContext } from "react";
import { type PathMatch, findPaths, pathOf } from "./paths.ts";
import style from "./prose.module.css";

/** Opens a file that a text names. Without one, names of files are plain text. */
export const PathOpener = createContext<((path: PathMatch) => void) | null>(null);

/** A text in which names of files can be pressed. */
export function WithPaths({ text }: { text: string }) {
  const open = useContext(PathOpener);
  if (open === null) return text;
  const out: ReactNode[] = [];
  let at = 0;
  for (const path of findPaths(text)) {
    out.push(text.slice(at, path.start));
    out.push(
      <PathButton key={path.start} path={path} open={open}>
        {text.slice(path.start, path.end)}
      </PathButton>,
    );
    at = path.end;
  }
  out.push(text.slice(at));
  return out;
}

/** Words that stand for one file if `target` names one, and for nothing else otherwise. */
export function MaybePath({ target, children }: { target: string; children: ReactNode }) {
  const open = useContext(PathOpener);
  const path = open === null ? null : pathOf(target);
  if (open === null || path === null) return children;
  return (
    <PathButton path={path} open={open}>
      {children}
    </PathButton>
  );
}

interface PathButtonProps {
  readonly path: PathMatch;
  readonly open: (path: PathMatch) => void;
  readonly children: ReactNode;
}

function PathButton({ path, open, children }: PathButtonProps) {
  return (
    <button type="button" className={style.path} onClick={() => open(path)}>
      {children}
    </button>
  );
}
