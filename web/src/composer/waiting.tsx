import { type ReactNode, useMemo, useRef, useState } from "react";
import { Clock, Pencil, RotateCw, TriangleAlert, X } from "lucide-react";
import { Button } from "../parts/button.tsx";
import {
  useApp,
  useChildren,
  useConnection,
  useItem,
  useKey,
  useView,
} from "../parts/use-store.ts";
import type { Content, QueuedView } from "../protocol.gen.ts";
import type { Outgoing } from "../store/outbox.ts";
import type { SessionStore } from "../store/session.ts";
import { EditQueued } from "./edit-queued.tsx";
import { textIn } from "./recall.ts";
import type { Agent } from "./use-agent.ts";
import style from "./waiting.module.css";

const NEWEST = 20; // what is on its way is among the last

interface Props {
  readonly store: SessionStore;
  readonly agent: Agent;
}

/** Messages that have not reached the agent: they wait for their turn, or for the connection. */
export function Waiting({ store, agent }: Props): ReactNode {
  const view = useView(store);
  const outgoing = useOutgoing(store.session);
  const online = useConnection() === "online";
  const stuck = outgoing.filter((one) => one.state === "refused" || !online);
  const running = view?.status === "running";
  return (
    <ul className={style.waiting} aria-label="Messages that wait">
      {view?.queue.map((one) => (
        <Queued key={one.key} store={store} one={one} />
      ))}
      {running && agent.commands.has("cancel_queued") && <OnTheWay store={store} />}
      {stuck.map((one) => (
        <Stuck key={one.request} one={one} />
      ))}
    </ul>
  );
}

/** The list of a session's outgoing messages, the same one until it changed. */
function useOutgoing(session: string): readonly Outgoing[] {
  const { outbox } = useApp();
  const last = useRef<readonly Outgoing[]>([]);
  return useKey(outbox.emitter, session, () => {
    const now = outbox.of(session);
    const same =
      now.length === last.current.length && now.every((one, at) => one === last.current[at]);
    if (!same) last.current = now;
    return last.current;
  });
}

function Queued({
  store,
  one,
}: {
  readonly store: SessionStore;
  readonly one: QueuedView;
}): ReactNode {
  const app = useApp();
  const item = useItem(store, one.key);
  const [editing, setEditing] = useState(false);
  const content = item?.kind === "user" ? item.content : undefined;
  if (editing && content !== undefined) {
    return (
      <li className={style.one}>
        <EditQueued
          session={store.session}
          id={one.key}
          content={content}
          onDone={() => setEditing(false)}
        />
      </li>
    );
  }
  return (
    <li className={style.one}>
      <Clock aria-hidden="true" />
      <span className={style.said}>After this turn</span>
      <span className={style.text}>{headOf(content) || one.head}</span>
      {content !== undefined && app.may("input") && (
        <Button
          look="quiet"
          aria-label="Change this message"
          icon={<Pencil aria-hidden="true" />}
          onClick={() => setEditing(true)}
        />
      )}
      <Cancel session={store.session} id={one.key} />
    </li>
  );
}

/** Handed over in the middle of a turn, and not taken up yet: some agents give those back. */
function OnTheWay({ store }: { readonly store: SessionStore }): ReactNode {
  const ids = useChildren(store, "");
  const last = useMemo(() => ids.slice(-NEWEST), [ids]);
  return last.map((id) => <Handed key={id} store={store} id={id} />);
}

function Handed({ store, id }: { readonly store: SessionStore; readonly id: string }): ReactNode {
  const item = useItem(store, id);
  if (item?.kind !== "user" || !item.steered) return null;
  if (item.stage !== "dispatched" && item.stage !== "written") return null;
  return (
    <li className={style.one}>
      <Clock aria-hidden="true" />
      <span className={style.said}>At its next step</span>
      <span className={style.text}>{headOf(item.content)}</span>
      <Cancel session={store.session} id={id} />
    </li>
  );
}

function Cancel({ session, id }: { readonly session: string; readonly id: string }): ReactNode {
  const app = useApp();
  if (!app.may("input")) return null;
  return (
    <Button
      look="quiet"
      aria-label="Take this message back"
      icon={<X aria-hidden="true" />}
      onClick={() => void app.attempt(session, { type: "cancel_queued", key: id })}
    />
  );
}

/** What this page could not hand over. */
function Stuck({ one }: { readonly one: Outgoing }): ReactNode {
  const app = useApp();
  const refused = one.state === "refused";
  const again = (): void => {
    if (one.code !== "stale_turn") {
      app.retry(one.request);
      return;
    }
    // the turn it was meant for is over: it is another message now
    app.outbox.remove(one.request);
    app.send(one.session, [...one.content]);
  };
  return (
    <li className={style.one} data-refused={refused || undefined}>
      {refused ? <TriangleAlert aria-hidden="true" /> : <Clock aria-hidden="true" />}
      <span className={style.said}>{refused ? "Not sent" : "When the connection is back"}</span>
      <span className={style.text}>{headOf(one.content)}</span>
      {refused && (
        <>
          <span className={style.why} role="alert">
            {one.error}
          </span>
          <Button look="quiet" icon={<RotateCw aria-hidden="true" />} onClick={again}>
            Try again
          </Button>
          <Button look="quiet" onClick={() => app.outbox.remove(one.request)}>
            Discard
          </Button>
        </>
      )}
    </li>
  );
}

function headOf(content: readonly Content[] | undefined): string {
  if (content === undefined) return "";
  const text = textIn(content);
  const rest = content.filter((one) => one.type !== "text").length;
  const more = rest === 0 ? "" : rest === 1 ? "1 attachment" : `${rest} attachments`;
  return [text, more].filter((one) => one !== "").join(" · ");
}
