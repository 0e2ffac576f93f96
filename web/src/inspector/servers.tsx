import { type ReactNode, useEffect } from "react";
import { Button } from "../parts/button.tsx";
import { useAsked } from "../parts/use-asked.ts";
import { useApp, useKey, useView } from "../parts/use-store.ts";
import type { McpCommand } from "../protocol.gen.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, listOf, own, textOf } from "../store/values.ts";
import { titled } from "../tools/names.ts";
import { logInOf } from "./log-in.ts";
import style from "./inspector.module.css";

const AGAIN_MS = 2000;

interface Server {
  readonly name: string;
  readonly status: string;
  readonly tools: number;
  readonly error: string;
}

const WORDS: Readonly<Record<string, string>> = {
  connected: "connected",
  failed: "failed",
  "needs-auth": "needs a log-in",
  pending: "connecting",
  disabled: "switched off",
};

export function serversOf(answer: unknown): readonly Server[] {
  const told = fieldsOf(answer);
  return listOf(told["mcpServers"] ?? told["servers"]).map((raw) => {
    const one = fieldsOf(raw);
    return {
      name: textOf(one["name"]),
      status: textOf(one["status"]),
      tools: listOf(one["tools"]).length,
      error: textOf(one["error"]),
    };
  });
}

/** The agent's MCP servers: what became of each, and what can be done about it. */
export function Servers({ store }: { readonly store: SessionStore }): ReactNode {
  const app = useApp();
  const view = useView(store);
  const live = view?.status === "idle" || view?.status === "running";
  const { value, problem, reload } = useAsked(
    () =>
      live
        ? app.query(store.session, "mcp").catch(() => app.panel(store.session, "mcp"))
        : app.panel(store.session, "mcp"),
    `${store.session} ${live} ${view?.turns ?? 0}`,
  );
  useKey(store.emitter, "shape", () => store.shape); // where to log in is said in the log
  const servers = serversOf(value);
  const coming = servers.some((one) => one.status === "pending" || waitsForLogIn(one, store));
  useEffect(() => {
    if (!coming) return undefined;
    const timer = setInterval(reload, AGAIN_MS);
    return () => clearInterval(timer);
  }, [coming, reload]);
  const act = (server: string, action: McpCommand["action"]): void => {
    void app.attempt(store.session, { type: "mcp", server, action }).then(reload);
  };
  return (
    <>
      <div className={style.head}>
        <h2>MCP servers</h2>
        <Button look="quiet" onClick={reload}>
          Refresh
        </Button>
      </div>
      {problem !== "" && <p className={style.note}>{problem}</p>}
      {servers.length === 0 && problem === "" && (
        <p className={style.empty}>
          No MCP servers. What the agent&apos;s own configuration names is listed here.
        </p>
      )}
      <ul>
        {servers.map((one) => (
          <li key={one.name} className={style.server}>
            <strong>{titled(one.name)}</strong>{" "}
            <span className={one.status === "failed" ? style.bad : style.note}>
              {own(WORDS, one.status) ?? one.status}
              {one.tools > 0 && ` · ${one.tools} tools`}
            </span>
            {one.error !== "" && <p className={style.note}>{one.error}</p>}
            {waitsForLogIn(one, store) && <Address server={one.name} store={store} />}
            {live && (
              <span className={style.actions}>
                {one.status === "needs-auth" && (
                  <Button look="main" onClick={() => act(one.name, "login")}>
                    Log in
                  </Button>
                )}
                {one.status !== "disabled" && (
                  <Button onClick={() => act(one.name, "reconnect")}>Reconnect</Button>
                )}
                {one.status === "disabled" ? (
                  <Button onClick={() => act(one.name, "enable")}>Switch on</Button>
                ) : (
                  <Button onClick={() => act(one.name, "disable")}>Switch off</Button>
                )}
              </span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function waitsForLogIn(server: Server, store: SessionStore): boolean {
  return (
    server.status === "needs-auth" &&
    logInOf(server.name, store.transcript.items.values()) !== undefined
  );
}

/** Where to go; the list looks by itself whether it was done. */
function Address({
  server,
  store,
}: {
  readonly server: string;
  readonly store: SessionStore;
}): ReactNode {
  const found = logInOf(server, store.transcript.items.values());
  if (found === undefined) return null;
  return (
    <p className={style.note}>
      <a href={found.address} target="_blank" rel="noreferrer" className={style.go}>
        Open the log-in page
      </a>
      {found.onItsMachine && " It has to be a browser on the machine the agent runs on."}
    </p>
  );
}
