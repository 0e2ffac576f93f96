import type { ReactNode } from "react";
import { useApp, useKey, useView } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import { shortPath } from "../tools/target.ts";
import { changesOf } from "./changed-files.ts";
import { goTo } from "./go-to.ts";
import style from "./inspector.module.css";

/** Every file that was changed in this session, with how much. */
export function Changes({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  useKey(store.emitter, "shape", () => store.shape);
  const cwd = useView(store)?.cwd ?? "";
  const files = changesOf(store.transcript.items.values());
  if (files.length === 0)
    return <p className={style.empty}>No changes yet. Files the agent changes are listed here.</p>;
  const show = (item: string): void => {
    app.ui.slide(""); // on a narrow screen the list lies above it
    goTo(store, item);
  };
  return (
    <>
      <h2 className={style.head}>
        {files.length} {files.length === 1 ? "file" : "files"}
      </h2>
      <ul>
        {files.map((file) => (
          <li key={file.path} className={style.file}>
            <button type="button" className={style.link} onClick={() => show(file.last)}>
              <span className={style.path}>{shortPath(file.path, cwd)}</span>
            </button>
            <span className={style.note}>
              <span className={style.plus}>+{file.added}</span>{" "}
              <span className={style.minus}>−{file.removed}</span>
              {file.times > 1 && ` in ${file.times} changes`}
            </span>
          </li>
        ))}
      </ul>
      {store.first > 1 && (
        <p className={style.note}>Only what is loaded. Scroll up in the conversation for more.</p>
      )}
    </>
  );
}
