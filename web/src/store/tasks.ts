/** The agent's list of what there is to do. */
import type { Json, Task } from "./items.ts";
import { fieldsOf, listOf, textOf, textsOf } from "./values.ts";

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
