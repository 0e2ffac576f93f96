import type { ReactNode } from "react";
import { Permission, type PermissionProps } from "./permission.tsx";
import { QuestionForm } from "./question.tsx";

interface Props extends PermissionProps {
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
