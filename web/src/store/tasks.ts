/** The agent's list of what there is to do. */
import type { BackgroundChangedEvent, TasksEvent } from "../protocol.gen.ts";
import type { Json, Task } from "./items.ts";
import { fieldsOf, listOf, textOf, textsOf } from "./values.ts";

/** The list of a `tasks` event; one of an older log is only there as the agent wrote it. */
export function tasksIn(event: Omit<TasksEvent, "type">): readonly Task[] {
  const { items = [] } = event;
  if (items.length === 0) return tasksOf(event.tasks);
  return items.map((one, place) => ({
    id: one.id ?? String(place + 1),
    content: one.text ?? "",
    status: one.status ?? "pending",
    activeForm: one.active_text ?? "",
    owner: one.owner ?? "",
    blocks: one.blocks ?? [],
    blockedBy: one.blocked_by ?? [],
  }));
}

export function tasksOf(value: unknown): readonly Task[] {
  return listOf(value).map((raw: Json, place) => {
    const one = fieldsOf(raw);
    return {
      id: textOf(one["id"]) || String(place + 1),
      content: textOf(one["content"]),
      status: textOf(one["status"]) || "pending",
      activeForm: textOf(one["activeForm"]),
      owner: textOf(one["owner"]),
      blocks: textsOf(one["blocks"]),
      blockedBy: textsOf(one["blockedBy"]),
    };
  });
}

/** The ids a task still waits for: a finished one blocks nothing. */
export function openBlockers(task: Task, all: readonly Task[]): readonly string[] {
  const open = new Set(all.filter((one) => one.status !== "completed").map((one) => one.id));
  return task.blockedBy.filter((id) => open.has(id));
}

/** Something that runs beside the conversation. */
export interface Background {
  readonly id: string;
  readonly title: string;
}

export function backgroundIn(event: BackgroundChangedEvent): readonly Background[] {
  if (event.running !== undefined) {
    return event.running.map(({ id, title = "" }) => ({ id, title: title || id }));
  }
  return listOf(event.tasks).map((raw) => {
    const one = fieldsOf(raw);
    const id = textOf(one["task_id"]) || textOf(one["id"]);
    return { id, title: textOf(one["description"]) || textOf(one["command"]) || id };
  });
}
