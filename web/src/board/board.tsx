import { type ReactNode, useState } from "react";
import { Menu, Plus } from "lucide-react";
import { navigate } from "../routes.ts";
import { Button } from "../parts/button.tsx";
import { useApp, useKey, useRows } from "../parts/use-store.ts";
import { NARROW, useMedia } from "../parts/use-media.ts";
import { useAsked } from "../parts/use-asked.ts";
import { useNow } from "../parts/use-now.ts";
import { whoIsHere } from "../panels/start-form.ts";
import { type GroupName, grouped, isPutAway, startOfDay } from "../store/grouping.ts";
import type { Row } from "../store/rows.ts";
import { SessionCard } from "./session-card.tsx";
import { Spent } from "./spent.tsx";
import { WaitingPrompt } from "./waiting-prompt.tsx";
import style from "./board.module.css";

/** Old sessions are many; so many of them are shown until somebody wants all. */
const FIRST = 24;

/** All sessions by what they want. Whatever waits can be answered right here. */
export function Board(): ReactNode {
  const app = useApp();
  const rows = useRows();
  const loaded = useKey(app.listing.emitter, "rows", () => app.listing.loaded);
  const waiting = useKey(app.listing.emitter, "waiting", () => app.listing.waiting);
  const narrow = useMedia(NARROW);
  const now = useNow();
  const shown = rows.filter((one) => !isPutAway(one));
  const groups = grouped(shown, startOfDay(now));
  const asking = new Set(waiting.map((one) => one.session));
  return (
    <div className={style.board}>
      <header className={style.head}>
        {narrow && (
          <Button
            look="quiet"
            aria-label="All sessions"
            icon={<Menu aria-hidden="true" />}
            onClick={() => app.ui.slide("rail")}
          />
        )}
        <h1>Sessions</h1>
        <p className={style.sum}>{summary(groups)}</p>
        {narrow && (
          <Button
            icon={<Plus aria-hidden="true" />}
            className={style.new}
            onClick={() => app.ui.show("new-session")}
          >
            New session
          </Button>
        )}
      </header>
      <div className={style.body}>
        {loaded && shown.length === 0 && <Empty archived={rows.length > 0} />}
        {waiting.length > 0 && (
          <section className={style.group} aria-label="Needs you">
            <h2 className={style.needs}>
              Needs you{" "}
              <span>
                {asking.size}
                {waiting.length > asking.size && ` · ${waiting.length} prompts`}
              </span>
            </h2>
            <ul className={style.prompts}>
              {waiting.map((one) => (
                <WaitingPrompt key={`${one.session}:${one.prompt.id}`} waiting={one} nowMs={now} />
              ))}
            </ul>
          </section>
        )}
        {groups.map((group) => (
          <Cards
            key={group.name}
            name={group.name}
            rows={group.rows.filter((one) => !asking.has(one.session))}
            nowMs={now}
          />
        ))}
        <Spent />
      </div>
    </div>
  );
}

function summary(groups: readonly { name: GroupName; rows: readonly Row[] }[]): string {
  const of = (name: GroupName): number => groups.find((one) => one.name === name)?.rows.length ?? 0;
  const needs = of("Needs you");
  const works = of("Working");
  const parts = [
    needs > 0 ? `${needs} ${needs === 1 ? "needs" : "need"} you` : "",
    works > 0 ? `${works} working` : "",
  ].filter(Boolean);
  return parts.join(" · ") || "Nothing needs you";
}

interface CardsProps {
  readonly name: GroupName;
  readonly rows: readonly Row[];
  readonly nowMs: number;
}

function Cards({ name, rows, nowMs }: CardsProps): ReactNode {
  const [all, setAll] = useState(false);
  const shown = all ? rows : rows.slice(0, FIRST);
  if (rows.length === 0) return null; // what they ask stands above
  return (
    <section className={style.group} aria-label={name === "Needs you" ? "Waiting" : name}>
      <h2>
        {name === "Needs you" ? "Waiting" : name} <span>{rows.length}</span>
      </h2>
      <ul className={style.cards}>
        {shown.map((row) => (
          <SessionCard key={row.session} row={row} nowMs={nowMs} />
        ))}
      </ul>
      {shown.length < rows.length && (
        <Button look="quiet" onClick={() => setAll(true)}>
          Show all {rows.length}
        </Button>
      )}
    </section>
  );
}

function Empty({ archived }: { readonly archived: boolean }): ReactNode {
  const app = useApp();
  // looked for now, so that the form for a new session need not wait
  const { value } = useAsked(() => app.ask("agents"));
  return (
    <div className={style.empty}>
      <h2>{archived ? "All sessions are archived" : "No sessions yet"}</h2>
      <p>
        A session is one agent at work in one folder. Start one here, or with{" "}
        <code>flybridge chat</code> at a terminal: both show the same.
      </p>
      <div className={style.ways}>
        <Button look="main" onClick={() => app.ui.show("new-session")}>
          Start a session
        </Button>
        <Button look="quiet" onClick={() => navigate({ view: "history" })}>
          Earlier conversations
        </Button>
      </div>
      <ol className={style.steps}>
        <li>
          Choose an agent and the folder it works in. {value !== undefined && whoIsHere(value)}
        </li>
        <li>Say what to do, as you would to a colleague.</li>
        <li>
          When it needs you it shows in amber: here, in the list at the side, and on your phone.
        </li>
      </ol>
    </div>
  );
}
