import type { ReactNode } from "react";
import { Button } from "../parts/button.tsx";
import { Link } from "../parts/link.tsx";
import { useApp } from "../parts/use-store.ts";
import type { Prompt } from "../store/items.ts";
import style from "./prompt-here.module.css";

interface Props {
  readonly session: string;
  readonly prompt: Prompt;
}

/** All of a prompt, and an answer that is bound to what is shown. */
export function PromptHere({ session, prompt }: Props): ReactNode {
  const app = useApp();
  const decide = (decision: "allow" | "deny"): void => {
    const answer = { type: "answer_permission", prompt: prompt.id, digest: prompt.digest } as const;
    void app.attempt(session, { ...answer, decision });
  };
  return (
    <div className={style.prompt} data-prompt={prompt.id}>
      <p>{prompt.kind === "question" ? "Asks you" : `Wants to use ${prompt.tool}`}</p>
      <pre className={style.input}>
        {prompt.kind === "question"
          ? prompt.questions.map((one) => one.question).join("\n")
          : JSON.stringify(prompt.input, null, 2)}
      </pre>
      <div className={style.actions}>
        {prompt.kind === "question" ? (
          <Link to={{ view: "session", session }}>Answer in the session</Link>
        ) : (
          <>
            <Button look="main" onClick={() => decide("allow")}>
              Allow once
            </Button>
            <Button onClick={() => decide("deny")}>Deny</Button>
          </>
        )}
      </div>
    </div>
  );
}
