import { GitBranch } from "lucide-react";
import type { ReactNode } from "react";
import { useAsked } from "../parts/use-asked.ts";
import { useApp } from "../parts/use-store.ts";
import { fieldsOf, textOf } from "../store/values.ts";
import style from "./header.module.css";

/** What is checked out where the session works. `busy`: while it is, that may change. */
export function Branch(props: { readonly session: string; readonly busy: boolean }): ReactNode {
  const { session, busy } = props;
  const app = useApp();
  const { value } = useAsked(() => app.panel(session, "checkout"), `${session} ${busy}`);
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
