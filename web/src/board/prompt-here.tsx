import { type ReactNode, useRef, useState } from "react";
import dock from "../dock/dock.module.css";
import { useGuard } from "../dock/guard.ts";
import type { Form } from "../dock/permission.tsx";
import { isPlan, titleOf, toolName } from "../dock/titles.ts";
import { useAnswer } from "../dock/use-answer.ts";
import { Ways } from "../dock/ways.tsx";
import { useApp, useKey } from "../parts/use-store.ts";
import type { Prompt } from "../store/items.ts";
import style from "./prompt-here.module.css";

interface Props {
  readonly session: string;
  /** What its session is called: "Allow once" stands on a board more than once. */
  readonly whose: string;
  readonly prompt: Prompt;
}

/** All of a prompt, and the same ways to answer it as in its session. */
export function PromptHere({ session, whose, prompt }: Props): ReactNode {
  const app = useApp();
  const card = useRef<HTMLDivElement>(null);
  const guard = useGuard();
  const answer = useAnswer(app.session(session), prompt);
  const [form, setForm] = useState<Form>("");
  useKey(app.emitter, "welcome", () => app.welcome); // it says what we may
  const may = app.may("approve");
  const title = titleOf(prompt);
  return (
    <div
      ref={card}
      role="group" // several may have the same title, which landmarks must not
      className={`${dock.dock} ${style.prompt}`}
      aria-label={`${title}: ${whose}`}
      data-prompt={prompt.id}
      tabIndex={-1}
    >
      <header className={dock.head}>
        <h3>{title}</h3>
        {prompt.kind === "permission" && !isPlan(prompt) && (
          <span className={dock.tool}>{toolName(prompt.tool, prompt.toolKind)}</span>
        )}
      </header>
      <Ways {...{ prompt, answer, guard, may, form, setForm }} around={card} />
      {!may && <p className={dock.told}>{app.whyNot()}</p>}
      {answer.problem !== "" && (
        <p className={dock.problem} role="alert">
          {answer.problem}
        </p>
      )}
    </div>
  );
}
