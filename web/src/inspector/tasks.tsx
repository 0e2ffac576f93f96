import { type ReactNode, useState } from "react";
import type { TasksEvent } from "../protocol.gen.ts";
import { Button } from "../parts/button.tsx";
import { useApp, useKey } from "../parts/use-store.ts";
import type { Task } from "../store/items.ts";
import type { SessionStore } from "../store/session.ts";
import { type Background as BackgroundTask, openBlockers, tasksIn } from "../store/tasks.ts";
import { fieldsOf } from "../store/values.ts";
import { useAsked } from "../parts/use-asked.ts";
import { ToolMark } from "../tools/tool-mark.tsx";
import style from "./inspector.module.css";

const MARKS = { completed: "ok", in_progress: "running" } as const;
const COLUMNS = [
  ["pending", "To do"],
  ["in_progress", "Now"],
  ["completed", "Done"],
] as const;

/** What the agent means to do, as a list or as a board, and what runs beside the conversation. */
export function Tasks({ store }: { readonly store: SessionStore }): ReactNode {
  const tasks = useTasks(store);
  const background = useKey(store.emitter, "background", () => store.transcript.background);
  const [board, setBoard] = useState(false);
  const done = tasks.filter((one) => one.status === "completed").length;
  if (tasks.length === 0 && background.length === 0) {
    return (
      <p className={style.empty}>
        No tasks yet. When the agent plans its work, the steps stand here.
      </p>
    );
  }
  return (
    <>
      {tasks.length > 0 && (
        <div className={style.head}>
          <h2>
            {done} of {tasks.length} done
          </h2>
          <Button look="quiet" aria-pressed={board} onClick={() => setBoard(!board)}>
            {board ? "As a list" : "As a board"}
          </Button>
        </div>
      )}
      {board ? <TaskBoard tasks={tasks} /> : <TaskList tasks={tasks} />}
      {background.length > 0 && <Background store={store} running={background} />}
    </>
  );
}

/** The log may be loaded only from behind the last list: then the gateway is asked for it. */
function useTasks(store: SessionStore): readonly Task[] {
  const app = useApp();
  const known = useKey(store.emitter, "tasks", () => store.transcript.tasks);
  const { value } = useAsked(() => app.panel(store.session, "tasks"), store.session);
  return known.length > 0 ? known : tasksIn(fieldsOf(value) as unknown as TasksEvent);
}

function TaskList({ tasks }: { readonly tasks: readonly Task[] }): ReactNode {
  return (
    <ul>
      {tasks.map((task) => (
        <li key={task.id} className={style.task} data-status={task.status}>
          <ToolMark status={MARKS[task.status as keyof typeof MARKS] ?? "partial"} />
          <span className={task.status === "completed" ? style.finished : undefined}>
            {wordsOf(task)}
            <Blocked task={task} tasks={tasks} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function TaskBoard({ tasks }: { readonly tasks: readonly Task[] }): ReactNode {
  return (
    <div className={style.board}>
      {COLUMNS.map(([status, label]) => {
        const mine = tasks.filter((one) => columnOf(one) === status);
        return (
          <section key={status} aria-label={label}>
            <h3 className={style.group}>
              {label} {mine.length}
            </h3>
            <ul>
              {mine.map((task) => (
                <li key={task.id}>
                  {wordsOf(task)}
                  <Blocked task={task} tasks={tasks} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </div>
  );
}

function Blocked({
  task,
  tasks,
}: {
  readonly task: Task;
  readonly tasks: readonly Task[];
}): ReactNode {
  const open = openBlockers(task, tasks);
  const words = [
    open.length > 0 ? `blocked by ${open.map((id) => nameOf(id, tasks)).join(", ")}` : "",
    task.owner === "" ? "" : task.owner,
  ].filter((one) => one !== "");
  return words.length > 0 ? <span className={style.blocked}>{words.join(" · ")}</span> : null;
}

function Background({
  store,
  running,
}: {
  readonly store: SessionStore;
  readonly running: readonly BackgroundTask[];
}): ReactNode {
  const app = useApp();
  return (
    <>
      <h2 className={style.group}>In the background</h2>
      <ul>
        {running.map(({ id, title }) => (
          <li key={id} className={style.task}>
            <ToolMark status="running" />
            <span>
              {title}
              <span className={style.actions}>
                <Button
                  onClick={() => void app.attempt(store.session, { type: "stop_task", task: id })}
                >
                  Stop
                </Button>
              </span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function wordsOf(task: Task): string {
  return task.status === "in_progress" && task.activeForm !== "" ? task.activeForm : task.content;
}

function columnOf(task: Task): string {
  return task.status === "completed" || task.status === "in_progress" ? task.status : "pending";
}

function nameOf(id: string, tasks: readonly Task[]): string {
  const known = tasks.find((one) => one.id === id);
  return known === undefined ? `#${id}` : known.content;
}
