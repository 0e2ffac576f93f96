"""The agent's list of what there is to do, kept up from the results of its own tools.

Two families of tools write it: TodoWrite gives the whole list every time, the Task tools
change one entry at a time. A result repeats only part of what was asked for, so it is read
together with the call's input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.driver.convert.shapes import tasks_of
from flybridge.agents.claude.driver.memo import MAX_TASKS, Memo, OpenTool, Task
from flybridge.agents.claude.driver.sink import FIELD_BYTES, Sink
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import blocks, fields, text
from flybridge.model.events import Tasks
from flybridge.model.tools import limited

TASK_TOOLS = ("TaskCreate", "TaskUpdate", "TaskList", "TaskGet")
MAX_LINKS = 16
_WORDS = 512
_NAME = 32
_TRUE = Raw(b"true")


class TaskList:
    def __init__(self, memo: Memo, sink: Sink) -> None:
        self._memo = memo
        self._sink = sink

    def changed_by(self, call: OpenTool, detail: Raw) -> None:
        """A call that succeeded; a sub-agent's own to-dos are its own."""
        if call.name == "TodoWrite" and not call.parent:
            self.becomes(_todos(fields(detail).get("newTodos")))
        elif call.name in TASK_TOOLS:
            given = {} if call.given is UNSET else fields(call.given)
            self.becomes(self._after(call.name, given, fields(detail)))

    def becomes(self, tasks: list[Task]) -> None:
        if tasks != self._memo.tasks:
            self._memo.tasks = tasks
            self._sink.put(Tasks(tasks=Raw(msgspec.json.encode(tasks)), items=tasks_of(tasks)))

    def _after(self, tool: str, given: Mapping[str, Raw], told: Mapping[str, Raw]) -> list[Task]:
        tasks = self._memo.tasks
        one = fields(told.get("task", Raw(b"{}")))
        match tool:
            case "TaskCreate":
                made = _task({**given, **one})
                return [*tasks, made][-MAX_TASKS:] if made.id else tasks
            case "TaskGet" if "id" in one:
                seen = _task(one)
                return [_filled(seen, old) if old.id == seen.id else old for old in tasks]
            case "TaskUpdate" if told.get("success") == _TRUE:
                return _updated(tasks, _words(told, "taskId"), given, told)
            case "TaskList" if "tasks" in told:
                known = {one.id: one for one in tasks}
                listed = [_task(fields(raw)) for raw in blocks(told["tasks"]) or []][-MAX_TASKS:]
                return _mutual([_filled(one, known.get(one.id, Task())) for one in listed])
            case _:
                return tasks


def kept_input(tool: str, given: w.MaybeRaw) -> w.MaybeRaw:
    """What of a call's input its result will not repeat, and is needed then."""
    if tool not in TASK_TOOLS or given is UNSET or len(bytes(given)) > FIELD_BYTES:
        return UNSET
    return given.copy()


def _updated(
    tasks: list[Task], name: str, given: Mapping[str, Raw], told: Mapping[str, Raw]
) -> list[Task]:
    change = fields(told.get("statusChange", Raw(b"{}")))
    status = _words(change, "to") or _words(given, "status")
    if status == "deleted":
        return [_without(one, name) for one in tasks if one.id != name]
    blocks_more, blocked_more = _ids(given, "addBlocks"), _ids(given, "addBlockedBy")
    return [
        _changed(one, status, given, blocks_more, blocked_more)
        if one.id == name
        else _linked(
            one,
            [name] if one.id in blocked_more else [],
            [name] if one.id in blocks_more else [],
        )
        for one in tasks
    ]


def _changed(
    one: Task, status: str, given: Mapping[str, Raw], more: list[str], by: list[str]
) -> Task:
    changed = msgspec.structs.replace(
        one,
        content=_words(given, "subject") or one.content,
        status=status or one.status,
        active=_words(given, "activeForm") or one.active,
        owner=_words(given, "owner") if "owner" in given else one.owner,
    )
    return _linked(changed, more, by)


def _linked(one: Task, more: Iterable[str], by: Iterable[str]) -> Task:
    """The task with these links added, none twice."""
    return msgspec.structs.replace(
        one,
        blocks=list(dict.fromkeys([*one.blocks, *more]))[:MAX_LINKS],
        blocked_by=list(dict.fromkeys([*one.blocked_by, *by]))[:MAX_LINKS],
    )


def _without(one: Task, name: str) -> Task:
    return msgspec.structs.replace(
        one,
        blocks=[other for other in one.blocks if other != name],
        blocked_by=[other for other in one.blocked_by if other != name],
    )


def _mutual(tasks: list[Task]) -> list[Task]:
    """A list tells what each waits for; the other direction follows from it."""
    return [
        msgspec.structs.replace(
            one, blocks=[other.id for other in tasks if one.id and one.id in other.blocked_by]
        )
        for one in tasks
    ]


def _filled(one: Task, old: Task) -> Task:
    """A task as it was told now, with what only the call that made it had told."""
    return msgspec.structs.replace(
        one,
        content=one.content or old.content,
        active=one.active or old.active,
        blocks=one.blocks or old.blocks,
    )


def _todos(raw: Raw | None) -> list[Task]:
    parts = blocks(raw) if raw is not None else None
    return [_task(fields(one)) for one in (parts or [])[:MAX_TASKS]]


def _task(told: Mapping[str, Raw]) -> Task:
    return Task(
        id=_words(told, "id"),
        content=_words(told, "content") or _words(told, "subject"),
        status=_words(told, "status") or "pending",
        active=_words(told, "activeForm"),
        owner=_words(told, "owner"),
        blocks=_ids(told, "blocks"),
        blocked_by=_ids(told, "blockedBy"),
    )


def _ids(told: Mapping[str, Raw], name: str) -> list[str]:
    parts = blocks(told[name]) if name in told else None
    return [one for raw in (parts or [])[:MAX_LINKS] if (one := text(raw)[:_NAME])]


def _words(told: Mapping[str, Raw], name: str) -> str:
    return limited(text(told.get(name, UNSET)), _WORDS)
