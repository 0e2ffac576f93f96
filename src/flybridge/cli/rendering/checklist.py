"""A list of tasks, told as it changes: all of it once, then only what is different."""

from __future__ import annotations

from typing import Any, NamedTuple

from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.tool_text import compact, parsed
from flybridge.model.events import Tasks
from flybridge.model.tasks import AgentTask

MARKS = {"completed": "[x]", "done": "[x]", "in_progress": "[>]", "deleted": "[-]"}
MAX_TASKS = 200


class Task(NamedTuple):
    key: str
    line: str
    done: bool


class Checklist:
    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def lines(self) -> list[str]:
        """All of it, as it is now."""
        return list(self._told.values())

    def news(self, event: Tasks) -> list[str]:
        """Return how far it is, then the tasks that are new or different since the last time."""
        if event.items:
            tasks = [_typed(one, at) for at, one in enumerate(event.items[:MAX_TASKS], 1)]
            return self._news(tasks, len(event.items))
        return self._untyped(bytes(event.tasks))

    def _untyped(self, raw: bytes) -> list[str]:
        """Do the same for an event that was written before tasks were typed."""
        value = parsed(raw)
        if isinstance(value, dict) and isinstance(value.get("tasks"), list):
            value = value["tasks"]
        if not isinstance(value, list):
            return [one_line(compact(value))]
        tasks = [_task(one, at) for at, one in enumerate(value[:MAX_TASKS], 1)]
        return self._news(tasks, len(value))

    def _news(self, tasks: list[Task], count: int) -> list[str]:
        fresh = [task.line for task in tasks if self._told.get(task.key) != task.line]
        gone = len(self._told.keys() - {task.key for task in tasks})
        self._told = {task.key: task.line for task in tasks}
        if not fresh and not gone:
            return []
        if not tasks:
            return ["no tasks any more"]
        far = f"{sum(task.done for task in tasks)} of {count} done"
        if len(fresh) == 1:
            return [f"{fresh[0]} · {far}"]
        more = [f"… {count - MAX_TASKS} more"] if count > MAX_TASKS else []
        return [f"tasks: {far}", *fresh, *more]


def _typed(task: AgentTask, at: int) -> Task:
    active = task.status == "in_progress" and task.active_text
    done = task.status in ("completed", "done")
    waits = "" if done or not task.blocked_by else f" (waits for {_joined([*task.blocked_by])})"
    name = f"{task.id}. " if task.id else ""
    line = one_line(f"{MARKS.get(task.status, '[ ]')} {name}{active or task.text}{waits}")
    return Task(task.id or str(at), line, done)


def _task(one: Any, at: int) -> Task:
    if not isinstance(one, dict):
        return Task(str(at), one_line(compact(one)), False)
    status = str(one.get("status"))
    said = next((one[k] for k in ("content", "subject", "title", "description") if one.get(k)), "")
    if status == "in_progress" and isinstance(one.get("activeForm"), str):
        said = one["activeForm"] or said
    number = str(one["id"]) if "id" in one else ""
    waits = one.get("blockedBy") or one.get("addBlockedBy")
    open_still = status not in ("completed", "done")
    blocked = f" (waits for {_joined(waits)})" if isinstance(waits, list) and open_still else ""
    mark = MARKS.get(status, "[ ]")
    name = f"{number}. " if number else ""
    line = one_line(f"{mark} {name}{said or compact(one)}{blocked}")
    return Task(number or str(at), line, not open_still)


def _joined(waits: list[Any]) -> str:
    return ", ".join(str(one) for one in waits[:10])
