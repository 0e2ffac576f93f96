import { type KeyboardEvent, type ReactNode, useDeferredValue, useRef, useState } from "react";
import { CircleHelp, History, LayoutGrid, Plus, Search, Settings, X } from "lucide-react";
import { Consent } from "../notify/consent.tsx";
import { Button } from "../parts/button.tsx";
import { Link } from "../parts/link.tsx";
import { useApp, useKey, useRows } from "../parts/use-store.ts";
import { useNow } from "../parts/use-now.ts";
import { useRoute } from "../routes.ts";
import { grouped, isPutAway, matches, startOfDay, waitingCount } from "../store/grouping.ts";
import { ConnectionState } from "../status/connection.tsx";
import { useKeepsFocus } from "./kept-focus.ts";
import { SessionRow } from "./session-row.tsx";
import style from "./rail.module.css";

/** All sessions by what they want: whoever needs somebody is on top. */
export function Rail(): ReactNode {
  const app = useApp();
  const rows = useRows();
  const loaded = useKey(app.listing.emitter, "rows", () => app.listing.loaded);
  const route = useRoute();
  const now = useNow();
  const [search, setSearch] = useState("");
  const [archive, setArchive] = useState(false);
  const list = useRef<HTMLDivElement>(null);
  useKeepsFocus(list);
  const wanted = useDeferredValue(search);
  const found = rows.filter((one) => matches(one, wanted));
  const shown = found.filter((one) => archive || !isPutAway(one) || isShown(one.session));
  const hidden = found.filter(isPutAway).length;
  const waiting = waitingCount(rows);
  const groups = grouped(shown, startOfDay(now));

  function isShown(session: string): boolean {
    return route.view === "session" && route.session === session;
  }

  const move = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const links = [...(list.current?.querySelectorAll<HTMLElement>("a[data-row]") ?? [])];
    const at = links.indexOf(document.activeElement as HTMLElement);
    const next = event.key === "ArrowDown" ? at + 1 : at - 1;
    event.preventDefault();
    links[Math.min(links.length - 1, Math.max(0, next))]?.focus();
  };

  return (
    <div className={style.rail}>
      <div className={style.top}>
        <Link to={{ view: "board" }} className={style.name}>
          Flybridge
        </Link>
        <Button
          className={style.new}
          icon={<Plus aria-hidden="true" />}
          onClick={() => app.ui.show("new-session")}
        >
          New session
        </Button>
      </div>
      <div className={style.search}>
        <Search aria-hidden="true" />
        <input
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions by title, folder or agent"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && search !== "") {
              event.stopPropagation();
              setSearch("");
            } else {
              move(event);
            }
          }}
        />
        {search !== "" && (
          <Button
            look="quiet"
            aria-label="Clear the search"
            icon={<X aria-hidden="true" />}
            onClick={() => setSearch("")}
          />
        )}
      </div>
      {/* arrows are a shorter way; every row is reached by Tab too */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className={style.list} ref={list} onKeyDown={move}>
        {groups.map((group) => (
          // no landmark: the board's own sections have the same names
          <div key={group.name} role="group" aria-label={group.name}>
            <h2 className={style.group} data-needs={group.name === "Needs you"}>
              {group.name}
              <span className={style.count}>{group.rows.length}</span>
            </h2>
            <ul>
              {group.rows.map((row) => (
                <SessionRow
                  key={row.session}
                  row={row}
                  nowMs={now}
                  current={isShown(row.session)}
                />
              ))}
            </ul>
          </div>
        ))}
        {shown.length === 0 && loaded && (
          <p className={style.none}>
            {search !== ""
              ? "No session matches that."
              : hidden > 0
                ? "All sessions are archived."
                : "Sessions are listed here."}
          </p>
        )}
        {hidden > 0 && (
          <Button
            look="quiet"
            className={style.archive}
            aria-pressed={archive}
            onClick={() => setArchive(!archive)}
          >
            {archive ? "Hide archived" : `Show archived (${hidden})`}
          </Button>
        )}
      </div>
      <Consent waiting={waiting} />
      <footer className={style.foot}>
        <Link
          to={{ view: "board" }}
          className={style.way}
          title="Board"
          aria-label="Board"
          aria-current={route.view === "board" ? "page" : undefined}
        >
          <LayoutGrid aria-hidden="true" />
        </Link>
        <Link
          to={{ view: "history" }}
          className={style.way}
          title="History"
          aria-label="History"
          aria-current={route.view === "history" ? "page" : undefined}
        >
          <History aria-hidden="true" />
        </Link>
        <Button
          look="quiet"
          className={style.way}
          title="Settings"
          aria-label="Settings"
          icon={<Settings aria-hidden="true" />}
          onClick={() => app.ui.show("settings")}
        />
        <Button
          look="quiet"
          className={style.way}
          title="Help"
          aria-label="Help"
          icon={<CircleHelp aria-hidden="true" />}
          onClick={() => app.ui.show("help")}
        />
        <ConnectionState />
      </footer>
    </div>
  );
}
