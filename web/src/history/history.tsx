import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from "react";
import { Search } from "lucide-react";
import { wordsOf } from "../link/errors.ts";
import { Button } from "../parts/button.tsx";
import { Link } from "../parts/link.tsx";
import { Mark } from "../parts/mark.tsx";
import { ago } from "../parts/spoken.ts";
import { useNow } from "../parts/use-now.ts";
import { useRows } from "../parts/use-store.ts";
import { attention, titleOf } from "../store/attention.ts";
import { matches } from "../store/grouping.ts";
import {
  type Conversation,
  type Found,
  type Listed,
  PAGE,
  conversations,
  searched,
} from "./conversations.ts";
import { ConversationRow } from "./conversation-row.tsx";
import { HitRow } from "./hit-row.tsx";
import style from "./history.module.css";

/** What was said on this machine before: to look through, to go on with, to keep. */
export function HistoryPage(): ReactNode {
  const [words, setWords] = useState("");
  const [found, setFound] = useState<Found>();
  const [asked, setAsked] = useState("");
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const look = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const wanted = words.trim();
    setAsked(wanted);
    setFound(undefined);
    setWrong("");
    if (wanted === "") return;
    setBusy(true);
    try {
      setFound(await searched(wanted));
    } catch (error) {
      setWrong(wordsOf(error));
    }
    setBusy(false);
  };
  return (
    <div className={style.page}>
      <header className={style.head}>
        <h1>History</h1>
        <p>Conversations of agents on this machine, whoever started them.</p>
      </header>
      <div className={style.body}>
        <form className={style.search} role="search" onSubmit={(event) => void look(event)}>
          <Search aria-hidden="true" />
          <input
            type="search"
            aria-label="Search everything that was said"
            placeholder="Search everything that was said"
            value={words}
            onChange={(event) => {
              setWords(event.target.value);
              if (event.target.value === "") setAsked("");
            }}
          />
          <Button type="submit" disabled={busy}>
            Search
          </Button>
        </form>
        {wrong !== "" && (
          <p className={style.wrong} role="alert">
            {wrong}
          </p>
        )}
        {busy && <p className={style.quiet}>Searching.</p>}
        {asked === "" ? <Conversations filter={words} /> : <Hits found={found} asked={asked} />}
      </div>
    </div>
  );
}

function Hits({
  found,
  asked,
}: {
  readonly found: Found | undefined;
  readonly asked: string;
}): ReactNode {
  const now = useNow();
  const rows = useRows().filter((one) => matches(one, asked));
  return (
    <>
      {rows.length > 0 && (
        <section aria-label="Sessions">
          <h2 className={style.title}>Sessions</h2>
          <ul>
            {rows.map((row) => (
              <li key={row.session} className={style.session}>
                <Link to={{ view: "session", session: row.session }}>
                  <Mark state={attention(row)} />
                  <span>{titleOf(row)}</span>
                  <small>{ago(row.changedMs, now)}</small>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
      {found !== undefined && (
        <section aria-label="Found">
          <h2 className={style.title}>
            {found.hits.length === 0
              ? `Nothing found. ${found.files} conversations were searched.`
              : `${found.hits.length === 1 ? "1 place" : `${found.hits.length} places`} in ${
                  new Set(found.hits.map((one) => `${one.kind}:${one.id}`)).size
                } of ${found.files} conversations`}
          </h2>
          <ul>
            {found.hits.map((one) => (
              <HitRow
                key={`${one.kind}:${one.id}:${one.uuid}`}
                hit={one}
                several={found.kinds.length > 1}
                nowMs={now}
              />
            ))}
          </ul>
          <Unread kinds={found.unread} />
          {found.stopped !== "" && (
            <p className={style.quiet}>There may be more: {found.stopped}.</p>
          )}
        </section>
      )}
    </>
  );
}

function Conversations({ filter }: { readonly filter: string }): ReactNode {
  const now = useNow();
  const [listed, setListed] = useState<Listed>();
  const [more, setMore] = useState(false);
  const [wrong, setWrong] = useState("");
  const read = useCallback(async (before: readonly Conversation[]) => {
    try {
      const next = await conversations("", before.at(-1)?.modifiedMs ?? 0);
      setListed({ ...next, conversations: [...before, ...next.conversations] });
      setMore(next.conversations.length === PAGE);
    } catch (error) {
      setWrong(wordsOf(error));
    }
  }, []);
  useEffect(() => {
    void read([]);
  }, [read]);
  if (wrong !== "") {
    return (
      <p className={style.wrong} role="alert">
        The conversations could not be read: {wrong}.
      </p>
    );
  }
  if (listed === undefined) return <p className={style.quiet}>Reading.</p>;
  const all = listed.conversations;
  const shown = all.filter((one) => says(one, filter));
  return (
    <section aria-label="Conversations">
      <ul>
        {shown.map((one) => (
          <ConversationRow
            key={`${one.kind}:${one.id}`}
            one={one}
            several={listed.kinds.length > 1}
            nowMs={now}
          />
        ))}
      </ul>
      <Unread kinds={listed.unread} />
      {shown.length === 0 && (
        <p className={style.quiet}>
          {all.length === 0
            ? "None yet. What you and your agents say on this machine is listed here."
            : "No title, folder or branch has that. Press Enter to search all that was said."}
        </p>
      )}
      {more && (
        <Button look="quiet" onClick={() => void read(all)}>
          Show older
        </Button>
      )}
    </section>
  );
}

function Unread({ kinds }: { readonly kinds: readonly string[] }): ReactNode {
  if (kinds.length === 0) return null;
  return (
    <p className={style.wrong} role="alert">
      The conversations of these agents could not be read: {kinds.join(", ")}.
    </p>
  );
}

function says(one: Conversation, filter: string): boolean {
  const text = `${one.title}\n${one.prompt}\n${one.cwd}\n${one.branch}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
