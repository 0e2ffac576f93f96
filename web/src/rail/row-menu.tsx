import type { ReactNode, RefObject } from "react";
import { Menu } from "@base-ui/react/menu";
import { navigate } from "../routes.ts";
import { useApp } from "../parts/use-store.ts";
import { wordsOf } from "../link/errors.ts";
import type { App } from "../store/app.ts";
import { titleOf } from "../store/attention.ts";
import type { Row } from "../store/rows.ts";
import { act } from "./acting.ts";
import { download } from "./export.ts";
import style from "./row-menu.module.css";

interface Props {
  readonly row: Row;
  readonly open: boolean;
  readonly onOpen: (open: boolean) => void;
  readonly anchor: RefObject<HTMLElement | null>;
  /** The dialog the list is in, if it is in one. */
  readonly within: HTMLElement | undefined;
}

function item(label: string, run: () => void, danger = false): ReactNode {
  return (
    <Menu.Item className={danger ? style.danger : style.item} onClick={run}>
      {label}
    </Menu.Item>
  );
}

/** What can be done with a session from the list of them. */
export function RowMenu({ row, open, onOpen, anchor, within }: Props): ReactNode {
  const app = useApp();
  const { session } = row;
  return (
    <Menu.Root open={open} onOpenChange={onOpen} modal={false}>
      {/* a dialog lies on top of everything that is not in it */}
      <Menu.Portal container={within}>
        <Menu.Positioner anchor={anchor} side="bottom" align="end" sideOffset={4}>
          <Menu.Popup className={style.menu} finalFocus={anchor} aria-label={titleOf(row)}>
            {item("Rename", () => act({ what: "rename", session }))}
            {item("Fork", () => void fork(app, row))}
            {item("Export as Markdown", () => void download(app, session, "markdown"))}
            {item("Export as JSON", () => void download(app, session, "json"))}
            <Menu.Separator className={style.line} />
            {item(row.archived ? "Take out of the archive" : "Archive", () => archive(app, row))}
            {row.status !== "closed" && item("Close", () => act({ what: "close", session }))}
            {item("Delete", () => act({ what: "delete", session }), true)}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
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
