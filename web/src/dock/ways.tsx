import type { ReactNode } from "react";
import type { Prompt } from "../store/items.ts";
import type { Guard } from "./guard.ts";
import { type Form, Permission } from "./permission.tsx";
import { QuestionForm } from "./question.tsx";
import type { Answer } from "./use-answer.ts";

interface Props {
  readonly prompt: Prompt;
  readonly answer: Answer;
  readonly guard: Guard;
  readonly may: boolean;
  readonly form: Form;
  readonly setForm: (form: Form) => void;
  /** Where all of this stands: it has the focus again when a form in it is left. */
  readonly around: { readonly current: HTMLElement | null };
}

/** The ways to answer a prompt, wherever it is answered. */
export function Ways({ setForm, form, around, ...given }: Props): ReactNode {
  if (given.prompt.kind === "question") return <QuestionForm {...given} />;
  return (
    <Permission
      {...given}
      form={form}
      setForm={(next) => {
        setForm(next);
        if (next === "") around.current?.focus();
      }}
    />
  );
}
