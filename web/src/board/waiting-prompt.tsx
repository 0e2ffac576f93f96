import type { ReactNode } from "react";
import { Link } from "../parts/link.tsx";
import { Mark } from "../parts/mark.tsx";
import { ago, money } from "../parts/spoken.ts";
import { useRows } from "../parts/use-store.ts";
import { titleOf } from "../store/attention.ts";
import type { Waiting } from "../store/prompts.ts";
import { PromptHere } from "./prompt-here.tsx";
import style from "./waiting-prompt.module.css";

interface Props {
  readonly waiting: Waiting;
  readonly nowMs: number;
}

/** One prompt on the board: whose it is, all of it, and the way to answer. */
export function WaitingPrompt({ waiting, nowMs }: Props): ReactNode {
  const { session, prompt } = waiting;
  const row = useRows().find((one) => one.session === session);
  const facts = [
    prompt.agent === "" ? "" : `asked by ${prompt.agent}`,
    waiting.agent,
    row?.model,
    waiting.cwd,
    row !== undefined && row.costUsd > 0 ? money(row.costUsd) : "",
  ];
  return (
    <li className={style.waiting}>
      <p className={style.whose}>
        <Mark state="waiting" silent />
        <Link to={{ view: "session", session }}>{titleOf(waiting)}</Link>
        <span className={style.meta}>{facts.filter(Boolean).join(" · ")}</span>
        <span className={style.age}>{ago(prompt.sinceMs, nowMs)}</span>
      </p>
      <PromptHere key={prompt.digest} session={session} whose={titleOf(waiting)} prompt={prompt} />
    </li>
  );
}
