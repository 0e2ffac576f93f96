import type { ReactNode, RefObject } from "react";
import { navigate } from "../routes.ts";
import { Menu } from "../parts/menu.tsx";
import { useApp } from "../parts/use-store.ts";
import { wordsOf } from "../link/errors.ts";
import type { App } from "../store/app.ts";
import { titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import { act } from "./acting.ts";
import { download } from "./export.ts";

interface Props {
  readonly row: Row;
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
}

/** What can be done with a session from the list of them. */
export function RowMenu({ row, anchor, onClose }: Props): ReactNode {
  const app = useApp();
  const { session } = row;
  return (
    <Menu
      label={titleOf(row)}
      anchor={anchor}
      onClose={onClose}
      choices={[
        { label: "Rename", run: () => act({ what: "rename", session }) },
        { label: "Fork", run: () => void fork(app, row) },
        { label: "Export as Markdown", run: () => void download(app, session, "markdown") },
        { label: "Export as JSON", run: () => void download(app, session, "json") },
        {
          label: row.archived ? "Unarchive" : "Archive",
          run: () => archive(app, row),
          apart: true,
        },
        ...(row.status === "closed"
          ? []
          : [{ label: "Close", run: () => act({ what: "close", session }) }]),
        { label: "Delete", run: () => act({ what: "delete", session }), danger: true },
      ]}
    />
  );
}

async function fork(app: App, row: Row): Promise<void> {
  try {
    navigate({ view: "session", session: await app.branch("fork", row.session) });
  } catch (error) {
    app.ui.toast(`It could not be forked: ${wordsOf(error)}.`, "error");
  }
}

function archive(app: App, row: Row): void {
  const set = async (archived: boolean): Promise<void> => {
    const done = await app.attempt(row.session, { type: "archive", archived });
    if (!done || archived === row.archived) return;
    app.ui.toast(archived ? "Archived." : "Taken out of the archive.", "info", {
      label: "Undo",
      run: () => void set(!archived),
    });
  };
  void set(!row.archived);
}
