import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { Button } from "../parts/button.tsx";
import { useApp, useConnection, useKey } from "../parts/use-store.ts";
import { basePath } from "../link/base.ts";
import type { Connection } from "../link/link.ts";
import { ANY } from "../store/outbox.ts";
import type { SessionStore } from "../store/session.ts";
import { say } from "../notify/say.ts";
import { bannerOf, waitingWords } from "./banner.ts";
import style from "./connection.module.css";

/** A first connection may take a moment before anybody has to hear of it. */
const PATIENCE_MS = 1000;
const SYNC_MS = 400;
/** What is over sooner nobody has to hear of: the page would only jump. */
const BLINK_MS = 200;
const STALE = "The gateway was updated, and this page is the old one. What you wrote is kept.";

/** What is wrong with the connection, and the way out; nothing while all is well. */
export function ConnectionBanner(): ReactNode {
  const app = useApp();
  const connection = useConnection();
  const plugged = useOnLine();
  const late = useLate(connection === "connecting" && app.onlineMs === 0, PATIENCE_MS);
  const welcome = useKey(app.emitter, "welcome", () => app.welcome);
  const stale = useKey(app.emitter, "stale", () => app.stale);
  const away = useLate(connection === "connecting" || connection === "offline", BLINK_MS);
  const told = bannerOf(connection, plugged, (app.onlineMs > 0 && away) || late, stale);
  const waiting = useKey(app.outbox.emitter, ANY, () => app.outbox.waiting().length);
  useEffect(() => {
    if (told === "lost" || told === "unplugged") say("The connection is lost.", "assertive");
    if (told === "stale") say(STALE, "polite");
    if (connection === "refused" && app.welcome === undefined) logIn();
  }, [app, told, connection]);
  switch (told) {
    case "lost":
      return (
        <Bar kind="lost" words={`Reconnecting. ${waitingWords(waiting)}`}>
          <Button look="quiet" onClick={() => app.link.hurry()}>
            Try now
          </Button>
        </Bar>
      );
    case "unplugged":
      return (
        <Bar kind="lost" words={`Offline: this device has no network. ${waitingWords(waiting)}`} />
      );
    case "refused":
      return (
        <Bar kind="stopped" words="You are not logged in any more.">
          <Button look="plain" onClick={logIn}>
            Log in again
          </Button>
        </Bar>
      );
    case "newer":
      return (
        <Bar kind="stopped" words="The gateway is of another version than this page.">
          <Button look="plain" onClick={() => location.reload()}>
            Reload
          </Button>
        </Bar>
      );
    case "stale":
      return (
        <Bar kind="syncing" words={STALE}>
          <Button look="plain" onClick={() => location.reload()}>
            Reload
          </Button>
        </Bar>
      );
    default:
      return connection === "online" && welcome?.peer === "forwarded" && welcome.reason ? (
        <Bar kind="syncing" words={welcome.reason} />
      ) : null;
  }
}

/** The login page brings a browser back to where it was. */
function logIn(): void {
  sessionStorage.setItem("flybridge-next", location.pathname);
  location.assign(`${basePath()}/login`);
}

/** Online, but this session has not caught up yet; quick ones nobody sees. */
export function Syncing({ store }: { readonly store: SessionStore }): ReactNode {
  const connection = useConnection();
  const synced = useKey(store.emitter, "synced", () => store.synced || store.refused !== "");
  const late = useLate(connection === "online" && !synced, SYNC_MS);
  return late ? <Bar kind="syncing" words="Syncing what happened meanwhile." /> : null;
}

/** In the rail: always there, and the way to start the connection over. */
export function ConnectionState(): ReactNode {
  const app = useApp();
  const connection = useConnection();
  const word = WORDS[connection];
  return (
    <button
      type="button"
      className={style.state}
      data-state={connection}
      title="Start the connection over"
      aria-label={`${word}. Start the connection over`}
      onClick={() => (connection === "online" ? app.link.resync() : app.link.hurry())}
    >
      <span className={style.dot} aria-hidden="true" />
      {word}
    </button>
  );
}

const WORDS: Readonly<Record<Connection, string>> = {
  connecting: "Connecting",
  online: "Connected",
  offline: "Reconnecting",
  refused: "Logged out",
  newer: "Reload needed",
};

interface BarProps {
  readonly kind: "lost" | "syncing" | "stopped";
  readonly words: string;
  readonly children?: ReactNode;
}

function Bar({ kind, words, children }: BarProps): ReactNode {
  return (
    <div className={style.bar} data-kind={kind}>
      <span>{words}</span>
      {children}
    </div>
  );
}

/** True once something has been so for long enough. */
function useLate(is: boolean, afterMs: number): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!is) return;
    const timer = setTimeout(() => setLate(true), afterMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [is, afterMs]);
  return is && late;
}

function useOnLine(): boolean {
  return useSyncExternalStore(
    (listener) => {
      addEventListener("online", listener);
      addEventListener("offline", listener);
      return () => {
        removeEventListener("online", listener);
        removeEventListener("offline", listener);
      };
    },
    () => navigator.onLine,
  );
}
