import { type ReactNode, useEffect, useRef, useState } from "react";
import { RotateCw } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { useApp, useConnection, useKey } from "../parts/use-store.ts";
import type { Content } from "../protocol.gen.ts";
import type { Outgoing } from "../store/outbox.ts";
import type { SessionStore } from "../store/session.ts";
import { EditQueued } from "./edit-queued.tsx";
import { headOf, textIn } from "./recall.ts";
import { useBack } from "./use-back.ts";
import { fits } from "./use-send.ts";
import { ChangeButton, TakeBackButton, WaitingRow } from "./waiting-row.tsx";
import style from "./waiting.module.css";

/** An answer mostly comes before anybody could read that it is waited for. */
const SOON_MS = 600;

/** Messages that this page could not hand over yet, or of which nobody has said that they arrived. */
export function Unsent({ store }: { readonly store: SessionStore }): ReactNode {
  return useOutgoing(store.session).map((one) => <One key={one.request} store={store} one={one} />);
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

interface Props {
  readonly store: SessionStore;
  readonly one: Outgoing;
}

function One({ store, one }: Props): ReactNode {
  const online = useConnection() === "online";
  if (one.state === "refused") return <Refused one={one} />;
  if (one.instead !== undefined) return <Changed store={store} one={one} />;
  if (one.state === "queued") return <Queued store={store} one={one} />;
  return online ? <OnItsWay one={one} /> : <Uncertain one={one} />;
}

/** It has not left: everything can be done with it. */
function Queued({ store, one }: Props): ReactNode {
  const app = useApp();
  const back = useBack(store);
  const takeBack = (): void => {
    const taken = app.sending.takeBack(one.request);
    back();
    if (!taken) return;
    const again = (): void => void app.send(one.session, [...one.content], one.mode);
    app.ui.toast("Message taken back", "info", { label: "Undo", run: again });
  };
  return (
    <WaitingRow said="When the connection is back" text={headOf(one.content)}>
      <ChangeButton onClick={() => app.sending.rewrite(one.request, textIn(one.content))} />
      <TakeBackButton onClick={takeBack} />
    </WaitingRow>
  );
}

function Changed({ store, one }: Props): ReactNode {
  const app = useApp();
  const back = useBack(store);
  const save = (content: Content[]): void => {
    if (!fits(content)) {
      app.ui.toast("This is too long for one message.", "error");
    } else {
      app.sending.replace(one.request, content);
      back();
    }
  };
  return (
    <li className={style.one}>
      <EditQueued
        content={one.content}
        begun={one.instead ?? ""}
        onText={(text) => app.sending.rewrite(one.request, text)}
        onSave={save}
        onLeave={() => {
          app.sending.rewrite(one.request, undefined);
          back();
        }}
      />
    </li>
  );
}

function OnItsWay({ one }: { readonly one: Outgoing }): ReactNode {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), SOON_MS);
    return () => clearTimeout(timer);
  }, []);
  return late ? <WaitingRow said="Sending" text={headOf(one.content)} /> : null;
}

/** It has left, and the connection was lost before anybody said that it arrived. */
function Uncertain({ one }: { readonly one: Outgoing }): ReactNode {
  return (
    <WaitingRow
      said="Sent, not confirmed"
      text={headOf(one.content)}
      why="It may have arrived. It shows when the connection is back, and is not carried out twice."
    />
  );
}

/** The gateway did not take it. */
function Refused({ one }: { readonly one: Outgoing }): ReactNode {
  const app = useApp();
  const again = (): void => {
    if (one.code !== "stale_turn") {
      app.sending.retry(one.request);
      return;
    }
    // the turn it was meant for is over: it is another message now
    app.outbox.remove(one.request);
    app.send(one.session, [...one.content]);
  };
  return (
    <WaitingRow said="Not sent" text={headOf(one.content)} why={one.error} refused>
      <Button look="quiet" icon={<RotateCw aria-hidden="true" />} onClick={again}>
        Try again
      </Button>
      <Button look="quiet" onClick={() => app.outbox.remove(one.request)}>
        Discard
      </Button>
    </WaitingRow>
  );
}
