import type { ReactNode } from "react";
import { useView } from "../parts/use-store.ts";
import type { SessionStore } from "../store/session.ts";
import style from "./connection.module.css";

/** Advice to restart an agent that an older version connected by pipes; nothing for others. */
export function OldAgent({ store }: { readonly store: SessionStore }): ReactNode {
  const view = useView(store);
  if (view?.agent_io !== "pipes") return null;
  return (
    <div className={style.bar} data-kind="lost" role="note">
      <span>
        An older version started this agent. Restart this session’s agent to protect its prompts
        from other programs of the same user: run{" "}
        <code>flybridge sessions kill {store.session}</code>, then send a message.
      </span>
    </div>
  );
}
