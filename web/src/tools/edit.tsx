import { type ReactNode, useMemo, useState } from "react";
import { DiffView } from "../diff/diff-view.tsx";
import { hunksOf } from "../diff/hunks.ts";
import { previewOf, previewOfSubject } from "../diff/preview.ts";
import { blobText, blobTextHere } from "../link/blobs.ts";
import { wordsOf } from "../link/errors.ts";
import { useApp, useSettings } from "../parts/use-store.ts";
import type { Diff } from "../store/items.ts";
import { fieldsOf, parsed, textOf } from "../store/values.ts";
import type { BodyProps } from "./body.ts";
import { Output } from "./output.tsx";
import { Previewed } from "./previewed.tsx";
import { inputOf, shortPath } from "./target.ts";
import style from "./body.module.css";

/** A change to a file: what was changed, or what would be while nobody has allowed it. */
export function Edit({ store, item, cwd }: BodyProps): ReactNode {
  const { diff: mode } = useSettings();
  const input = inputOf(item);
  const preview = useMemo(
    () => previewOf(item.name, input) ?? previewOfSubject(item.subject),
    [item.name, input, item.subject],
  );
  const modified = item.decision?.edited === true || fieldsOf(item.detail)["userModified"] === true;
  const created = textOf(fieldsOf(item.detail)["type"]) === "create";
  const note = [created ? "new file" : "", modified ? "changed by a person" : ""]
    .filter((one) => one !== "")
    .join(", ");
  const id = `${store.session}:${item.id}`;
  if (item.diffs.length > 0) {
    return (
      <div className={style.stack}>
        {item.diffs.map((diff, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- they are only ever added
          <Changed key={at} id={`${id}:${at}`} diff={diff} cwd={cwd} mode={mode} note={note} />
        ))}
      </div>
    );
  }
  const failed = item.status === "error" || item.status === "denied";
  return (
    <div className={style.stack}>
      {preview !== null && (
        <Previewed
          id={id}
          preview={preview}
          cwd={cwd}
          note={[note, preview.note, failed ? "not done" : ""]
            .filter((one) => one !== "")
            .join(", ")}
        />
      )}
      {(failed || preview === null) && <Output store={store} item={item} />}
    </div>
  );
}

/** One file; a change that is too long for the log is fetched on request. */
function Changed({
  id,
  diff,
  cwd,
  mode,
  note,
}: {
  readonly id: string;
  readonly diff: Diff;
  readonly cwd: string;
  readonly mode: "unified" | "split";
  readonly note: string;
}): ReactNode {
  const app = useApp();
  const [, setCame] = useState(0);
  const whole = diff.blob === "" ? undefined : blobTextHere(diff.blob);
  const hunks = useMemo(
    () => hunksOf(whole === undefined ? diff.patch : parsed(whole)),
    [whole, diff.patch],
  );
  const fetchAll = (): void => {
    blobText(diff.blob).then(
      () => setCame((n) => n + 1),
      (error: unknown) => app.ui.toast(wordsOf(error), "error"),
    );
  };
  return (
    <DiffView
      id={id}
      path={shortPath(diff.path, cwd)}
      hunks={hunks}
      mode={mode}
      note={note}
      {...(diff.blob !== "" && whole === undefined ? { onShowAll: fetchAll } : {})}
    />
  );
}
