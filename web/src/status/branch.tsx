import { GitBranch } from "lucide-react";
import type { ReactNode } from "react";
import { useAsked } from "../parts/use-asked.ts";
import { useApp } from "../parts/use-store.ts";
import type { SessionView } from "../protocol.gen.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import style from "./header.module.css";

interface Props {
  readonly session: string;
  /** It may be another one after every turn. */
  readonly view: SessionView;
}

/** What is checked out where the session works. */
export function Branch({ session, view }: Props): ReactNode {
  const app = useApp();
  const { value } = useAsked(
    () => app.panel(session, "checkout"),
    `${session} ${view.turns} ${view.status === "running"}`,
  );
  const told = fieldsOf(value);
  const branch = textOf(told["branch"]);
  const name = branch || textOf(told["commit"]);
  if (name === "") return null;
  return (
    <span
      className={style.branch}
      role="group" // a name needs a role
      title={name}
      aria-label={branch === "" ? `Commit ${name}` : `Branch ${name}`}
    >
      <GitBranch aria-hidden="true" />
      <span>{name}</span>
    </span>
  );
}
