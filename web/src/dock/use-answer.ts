import { own } from "../store/values.ts";
import { useState } from "react";
import { talkOf } from "../composer/talk.ts";
import { codeOf, wordsOf } from "../link/errors.ts";
import { useApp } from "../parts/use-store.ts";
import type { AnswerPermissionCommand, AnswerQuestionCommand } from "../protocol.gen.ts";
import type { Prompt } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";

type Decision = Omit<AnswerPermissionCommand, "type" | "prompt" | "digest">;
type Reply = Omit<AnswerQuestionCommand, "type" | "prompt" | "digest">;

export interface Answer {
  readonly sending: boolean;
  /** Why the gateway did not take it; "": it did, or was not asked. */
  readonly problem: string;
  readonly decide: (decision: Decision) => void;
  readonly reply: (reply: Reply) => void;
}

const OTHERS: Readonly<Record<string, string>> = {
  already_closed: "This is no longer asked.",
  already_decided: "Somebody else answered first.",
  stale_prompt: "What is asked has changed. Look at it again.",
};

/** Hands over what a person decided, bound to the prompt as it was shown. */
export function useAnswer(store: SessionStore, prompt: Prompt): Answer {
  const app = useApp();
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState("");
  const submit = async (
    command: AnswerPermissionCommand | AnswerQuestionCommand,
  ): Promise<void> => {
    if (sending) return;
    const { answered } = talkOf(store);
    setSending(true);
    setProblem("");
    answered.add(prompt.id);
    try {
      await app.submit(store.session, command);
    } catch (error) {
      answered.delete(prompt.id);
      setProblem(own(OTHERS, codeOf(error)) ?? wordsOf(error));
      setSending(false);
    }
  };
  const bound = { prompt: prompt.id, digest: prompt.digest };
  return {
    sending,
    problem,
    decide: (decision) => void submit({ type: "answer_permission", ...bound, ...decision }),
    reply: (reply) => void submit({ type: "answer_question", ...bound, ...reply }),
  };
}
