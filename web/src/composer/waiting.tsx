import { type ReactNode, useMemo, useState } from "react";
import { useApp, useChildren, useItem, useView } from "../parts/use-store.ts";
import type { Content, QueuedView } from "../protocol.gen.ts";
import type { SessionStore } from "../store/session.ts";
import { EditQueued } from "./edit-queued.tsx";
import { headOf } from "./recall.ts";
import { Unsent } from "./unsent.tsx";
import type { Agent } from "./use-agent.ts";
import { useBack } from "./use-back.ts";
import { useDraft } from "./use-draft.ts";
import { ChangeButton, TakeBackButton, WaitingRow } from "./waiting-row.tsx";
import style from "./waiting.module.css";

const NEWEST = 20; // what is on its way is among the last

interface Props {
  readonly store: SessionStore;
  readonly agent: Agent;
}

/** Messages that have not reached the agent: they wait for their turn, or for the connection. */
export function Waiting({ store, agent }: Props): ReactNode {
  const view = useView(store);
  const running = view?.status === "running";
  return (
    <ul className={style.waiting} aria-label="Messages that wait">
      {view?.queue.map((one) => (
        <Queued key={one.key} store={store} one={one} />
      ))}
      {running && agent.commands.has("cancel_queued") && <OnTheWay store={store} />}
      <Unsent store={store} />
    </ul>
  );
}

function Queued({
  store,
  one,
}: {
  readonly store: SessionStore;
  readonly one: QueuedView;
}): ReactNode {
  const app = useApp();
  const back = useBack(store);
  const item = useItem(store, one.key);
  const [begun, setBegun] = useDraft(`queued:${one.key}`);
  const [editing, setEditing] = useState(begun !== "");
  const content = item?.kind === "user" ? item.content : undefined;
  const leave = (): void => {
    setEditing(false);
    setBegun("");
    back();
  };
  const save = async (next: Content[]): Promise<void> => {
    const command = { type: "edit_queued", key: one.key, content: next } as const;
    if (await app.attempt(store.session, command)) leave();
  };
  if (editing && content !== undefined) {
    return (
      <li className={style.one}>
        <EditQueued
          content={content}
          begun={begun}
          onText={setBegun}
          onSave={(next) => void save(next)}
          onLeave={leave}
        />
      </li>
    );
  }
  return (
    <WaitingRow said="After this turn" text={headOf(content) || one.head}>
      {content !== undefined && app.may("input") && (
        <ChangeButton onClick={() => setEditing(true)} />
      )}
      <Cancel store={store} id={one.key} />
    </WaitingRow>
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
    <WaitingRow said="At its next step" text={headOf(item.content)}>
      <Cancel store={store} id={id} />
    </WaitingRow>
  );
}

function Cancel({ store, id }: { readonly store: SessionStore; readonly id: string }): ReactNode {
  const app = useApp();
  const back = useBack(store);
  if (!app.may("input")) return null;
  const cancel = async (): Promise<void> => {
    if (await app.attempt(store.session, { type: "cancel_queued", key: id })) back();
  };
  return <TakeBackButton onClick={() => void cancel()} />;
}
