import type { ReactNode } from "react";
import { tasksOf } from "../store/tasks.ts";
import { fieldsOf } from "../store/values.ts";
import type { BodyProps } from "./body.ts";
import { inputOf } from "./target.ts";
import { ToolMark } from "./tool-mark.tsx";
import style from "./body.module.css";

const MARKS = { completed: "ok", in_progress: "running", pending: "partial" } as const;

/** A list of tasks that was written anew. */
export function Todo({ item }: BodyProps): ReactNode {
  const tasks = tasksOf(fieldsOf(inputOf(item))["todos"]);
  return (
    <ul>
      {tasks.map((task) => (
        <li key={task.id} className={style.task}>
          <ToolMark status={MARKS[task.status as keyof typeof MARKS] ?? "partial"} />
          <span className={task.status === "completed" ? style.done : undefined}>
            {task.status === "in_progress" && task.activeForm !== ""
              ? task.activeForm
              : task.content}
          </span>
        </li>
      ))}
    </ul>
  );
}
