import type { ReactNode } from "react";
import { Scroll } from "../parts/scroll.tsx";
import { visible } from "../text/control.ts";
import { fieldsOf, textsOf } from "../store/values.ts";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { shortPath } from "./target.ts";
import style from "./body.module.css";

const MOST = 200;

/** Files that were found; what was found in them is shown as it was printed. */
export function Search({ store, item, cwd }: BodyProps): ReactNode {
  const detail = fieldsOf(item.detail);
  const files = textsOf(detail["filenames"]);
  if (item.status !== "ok" || files.length === 0 || detail["mode"] === "content") {
    return <Output store={store} item={item} />;
  }
  return (
    <>
      <Scroll className={style.files} label="Files">
        <ul>
          {files.slice(0, MOST).map((path) => (
            <li key={path}>{visible(shortPath(path, cwd))}</li>
          ))}
        </ul>
      </Scroll>
      {files.length > MOST && <p className={style.meta}>and {files.length - MOST} more</p>}
    </>
  );
}
