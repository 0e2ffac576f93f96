import { own } from "../store/values.ts";
import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Link } from "../parts/link.tsx";
import { ago } from "../parts/spoken.ts";
import { useApp } from "../parts/use-store.ts";
import type { Hit } from "./conversations.ts";
import { keep } from "./go-on.ts";
import style from "./history.module.css";

const WHO: Readonly<Record<string, string>> = {
  user: "you",
  assistant: "the agent",
  tool: "a tool's input",
  result: "a tool's result",
};

interface Props {
  readonly hit: Hit;
  /** Several kinds of agents have a history: say whose it is. */
  readonly several: boolean;
  readonly nowMs: number;
}

/** A place where the words stand, and the way to the conversation around it. */
export function HitRow({ hit, several, nowMs }: Props): ReactNode {
  const app = useApp();
  return (
    <li className={style.row}>
      <div className={style.what}>
        <span className={style.excerpt}>{hit.excerpt}</span>
        <span className={style.place}>
          {several && <span>{hit.agent}</span>}
          <span>{own(WHO, hit.who) ?? hit.who}</span>
          {hit.cwd !== "" && (
            <span className={style.folder} title={hit.cwd}>
              {/* the end of a path says more than its beginning */}
              <bdi>{hit.cwd}</bdi>
            </span>
          )}
        </span>
      </div>
      <span className={style.age}>{hit.atMs > 0 ? ago(hit.atMs, nowMs) : ""}</span>
      <div className={style.ways}>
        {hit.session === "" ? (
          <Button look="quiet" onClick={() => void keep(app, hit)}>
            Import
          </Button>
        ) : (
          <Link className={style.way} to={{ view: "session", session: hit.session }}>
            Open
          </Link>
        )}
      </div>
    </li>
  );
}
