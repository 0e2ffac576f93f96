import { expect, test } from "vitest";
import { backgroundIn, tasksIn } from "./tasks.ts";

test("typed tasks are read before what the agent wrote itself", () => {
  const items = [{ id: "1", text: "Caulk", active_text: "Caulking", blocked_by: ["2"] }, {}];
  expect(tasksIn({ tasks: "its own form", items })).toMatchObject([
    { id: "1", content: "Caulk", status: "pending", activeForm: "Caulking", blockedBy: ["2"] },
    { id: "2", content: "", status: "pending" },
  ]);
});

test("tasks of an older log are read as they were written", () => {
  const tasks = [{ content: "Caulk", status: "completed", activeForm: "Caulking" }];
  for (const event of [{ tasks }, { tasks, items: [] }]) {
    expect(tasksIn(event)).toMatchObject([{ id: "1", content: "Caulk", status: "completed" }]);
  }
});

test("what runs in the background has an id and a title", () => {
  const type = "background.changed" as const;
  const running = [{ id: "b1", title: "long" }, { id: "b2" }];
  const tasks = [{ task_id: "b1", description: "long" }, { id: "b2" }];
  const shown = [
    { id: "b1", title: "long" },
    { id: "b2", title: "b2" },
  ];
  expect(backgroundIn({ type, tasks, running })).toEqual(shown);
  expect(backgroundIn({ type, tasks })).toEqual(shown);
  expect(backgroundIn({ type })).toEqual([]);
});
