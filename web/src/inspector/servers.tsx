import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { useAsked } from "../parts/use-asked.ts";
import { useApp, useView } from "../parts/use-store.ts";
import type { McpCommand } from "../protocol.gen.ts";
import type { SessionStore } from "../store/session.ts";
import { fieldsOf, listOf, textOf } from "../store/values.ts";
import { titled } from "../tools/names.ts";
import style from "./inspector.module.css";

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
    `${store.session} ${live}`,
  );
  const servers = serversOf(value);
  const act = (server: string, action: McpCommand["action"]): void => {
    void app.attempt(store.session, { type: "mcp", server, action }).then(reload);
  };
  return (
    <>
      <div className={style.head}>
        <h2>MCP servers</h2>
        <Button look="quiet" onClick={reload}>
          Look again
        </Button>
      </div>
      {problem !== "" && <p className={style.note}>{problem}</p>}
      {servers.length === 0 && problem === "" && (
        <p className={style.empty}>This agent has no MCP servers.</p>
      )}
      <ul>
        {servers.map((one) => (
          <li key={one.name} className={style.server}>
            <strong>{titled(one.name)}</strong>{" "}
            <span className={one.status === "failed" ? style.bad : style.note}>
              {WORDS[one.status] ?? one.status}
              {one.tools > 0 && ` · ${one.tools} tools`}
            </span>
            {one.error !== "" && <p className={style.note}>{one.error}</p>}
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
