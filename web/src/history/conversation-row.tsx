import { type ReactNode, memo } from "react";
import { Button } from "../parts/button.tsx";
import { Link } from "../parts/link.tsx";
import { ago, bytes } from "../parts/spoken.ts";
import { useApp } from "../parts/use-store.ts";
import { type Conversation, nameOf } from "./conversations.ts";
import { goOn, keep } from "./go-on.ts";
import style from "./history.module.css";

interface Props {
  readonly one: Conversation;
  /** Several kinds of agents have a history: say whose it is. */
  readonly several: boolean;
  readonly nowMs: number;
}

export const ConversationRow = memo(function ConversationRow({
  one,
  several,
  nowMs,
}: Props): ReactNode {
  const app = useApp();
  const name = nameOf(one);
  return (
    <li className={style.row}>
      <div className={style.what}>
        <span className={style.name}>{name}</span>
        <span className={style.meta}>
          {[several ? one.agent : "", one.cwd, one.branch, one.model, bytes(one.size)]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </div>
      <span className={style.age}>{ago(one.modifiedMs, nowMs)}</span>
      <div className={style.ways}>
        {one.session === "" ? (
          <>
            <Button
              look="quiet"
              aria-label={`Resume ${name}`}
              onClick={() => goOn(app, one, false)}
            >
              Resume
            </Button>
            <Button look="quiet" aria-label={`Import ${name}`} onClick={() => void keep(app, one)}>
              Import
            </Button>
          </>
        ) : (
          <Link
            className={style.way}
            to={{ view: "session", session: one.session }}
            aria-label={`Open ${name}`}
          >
            Open
          </Link>
        )}
        <Button look="quiet" aria-label={`Fork ${name}`} onClick={() => goOn(app, one, true)}>
          Fork
        </Button>
      </div>
    </li>
  );
});
