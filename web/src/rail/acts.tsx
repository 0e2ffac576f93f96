import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Modal } from "../parts/modal.tsx";
import { useApp, useRows } from "../parts/use-store.ts";
import { navigate, useRoute } from "../routes.ts";
import { titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import { type Act, act } from "./acting.ts";
import { download } from "./export.ts";
import style from "./acts.module.css";

/** The question that stands in front of everything until it is answered or left. */
export function Acts({ what, session }: Act): ReactNode {
  const row = useRows().find((one) => one.session === session);
  if (row === undefined) return null;
  switch (what) {
    case "rename":
      return <Rename row={row} done={done} />;
    case "export":
      return <Export row={row} done={done} />;
    default:
      return <Confirm what={what} row={row} done={done} />;
  }
}

function done(): void {
  act(undefined);
}

interface Props {
  readonly row: Row;
  readonly done: () => void;
}

function Rename({ row, done }: Props): ReactNode {
  const app = useApp();
  const [title, setTitle] = useState(row.title);
  const [busy, setBusy] = useState(false);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    if (await app.attempt(row.session, { type: "rename", title: title.trim() })) done();
    setBusy(false);
  };
  return (
    <Modal title="Rename session" look="small" onClose={done}>
      <form className={style.form} onSubmit={(event) => void save(event)}>
        <label className={style.field}>
          Title
          <input
            data-first=""
            value={title}
            maxLength={200}
            placeholder={titleOf({ ...row, title: "" })}
            onChange={(event) => setTitle(event.target.value)}
          />
        </label>
        <div className={style.actions}>
          <Button onClick={done}>Cancel</Button>
          <Button look="main" type="submit" disabled={busy}>
            Rename
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function Export({ row, done }: Props): ReactNode {
  const app = useApp();
  const save = (kind: "markdown" | "json"): void => {
    void download(app, row.session, kind);
    done();
  };
  return (
    <Modal title="Export session" look="small" onClose={done}>
      <p className={style.words}>
        Markdown is for reading. JSON has every event of the log, as it was recorded.
      </p>
      <div className={style.actions}>
        <Button onClick={() => save("json")}>JSON</Button>
        <Button look="main" onClick={() => save("markdown")}>
          Markdown
        </Button>
      </div>
    </Modal>
  );
}

const ASKED = {
  close: {
    title: "Close session",
    words: "Its agent ends, and it takes no more messages. What was said stays.",
    go: "Close session",
  },
  delete: {
    title: "Delete session",
    words: "Its agent ends, and all that was said here is forgotten. There is no way back.",
    go: "Delete session",
  },
} as const;

function Confirm({ what, row, done }: Props & { readonly what: "close" | "delete" }): ReactNode {
  const app = useApp();
  const route = useRoute();
  const [busy, setBusy] = useState(false);
  const go = async (): Promise<void> => {
    setBusy(true);
    const carried = await app.attempt(row.session, { type: what });
    setBusy(false);
    if (!carried) return;
    const here = route.view === "session" && route.session === row.session;
    if (what === "delete" && here) navigate({ view: "board" }, true);
    done();
  };
  return (
    <Modal title={ASKED[what].title} look="small" onClose={done}>
      <p className={style.words}>
        <strong>{titleOf(row)}</strong>
      </p>
      <p className={style.words}>{ASKED[what].words}</p>
      <div className={style.actions}>
        <Button onClick={done}>Cancel</Button>
        <Button look="danger" disabled={busy} onClick={() => void go()}>
          {ASKED[what].go}
        </Button>
      </div>
    </Modal>
  );
}
