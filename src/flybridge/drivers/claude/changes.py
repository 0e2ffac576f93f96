"""What a call changed besides giving a result: a file, the list of tasks, the plan.

The CLI says it in the result's own object (``tool_use_result``), whose shape depends on the
tool. Nothing here is needed to follow a conversation: what is not understood is left out,
because the result itself has been passed on already.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET, Raw

from flybridge.drivers.claude.memo import MAX_TASKS, Memo, OpenTool, Task
from flybridge.drivers.claude.sink import FIELD_BYTES, Sink
from flybridge.model.events import Diff, Plan, Tasks
from flybridge.model.ids import ItemId
from flybridge.session.ports import BLOB_BYTES
from flybridge.wire.claude import messages as w
from flybridge.wire.claude.decode import blocks, fields, text

PLAN_TOOL = "ExitPlanMode"
TASK_TOOLS = ("TaskCreate", "TaskUpdate", "TaskList")
PLAN_CHARS = 16 * 1024
PATCH_BYTES = BLOB_BYTES // 2
MAX_LINES = 2000
_WORDS = 512
_TRUE = Raw(b"true")


class Changes:
    def __init__(self, memo: Memo, sink: Sink) -> None:
        self._memo = memo
        self._sink = sink

    # ---- plans ---------------------------------------------------------------------------------

    def plan_in(self, tool: str, given: w.MaybeRaw, parent: ItemId) -> None:
        """A plan that is put forward: in the call, and again in the prompt for it."""
        if tool == PLAN_TOOL and given is not UNSET:
            self._planned(text(fields(given).get("plan", UNSET)), parent)

    def _planned(self, said: str, parent: ItemId) -> None:
        checksum = zlib.crc32(said.encode())
        if not said.strip() or checksum == self._memo.plan:
            return
        self._memo.plan = checksum
        cut = said if len(said) <= PLAN_CHARS else f"{said[:PLAN_CHARS]}\n…"
        self._sink.put(Plan(text=cut, parent=parent))

    # ---- results -------------------------------------------------------------------------------

    def made_by(self, call: OpenTool, detail: w.MaybeRaw) -> None:
        """Tell what a call that succeeded has changed."""
        if detail is UNSET:
            return
        if call.name in ("Edit", "Write", "NotebookEdit"):
            self._changed(call.item, fields(detail))
        elif call.name == "TodoWrite" and not call.parent:
            self._list_is(_todos(fields(detail).get("newTodos")))
        elif call.name in TASK_TOOLS:
            self._list_is(self._merged(call, fields(detail)))
        elif call.name == PLAN_TOOL:
            self._planned(text(fields(detail).get("plan", UNSET)), call.parent)

    def _changed(self, item: ItemId, told: Mapping[str, Raw]) -> None:
        path = _words(told, "filePath") or _words(told, "notebook_path")
        patch = _patch(told)
        if path and patch:
            self._sink.put(Diff(item=item, path=path, patch=_fitting(patch)))

    # ---- tasks ---------------------------------------------------------------------------------

    def new_conversation(self) -> None:
        """The agent has forgotten its tasks, and its plan."""
        self._memo.plan = 0
        self._list_is([])

    def _list_is(self, tasks: list[Task]) -> None:
        if tasks != self._memo.tasks:
            self._memo.tasks = tasks
            self._sink.put(Tasks(tasks=Raw(msgspec.json.encode(tasks))))

    def _merged(self, call: OpenTool, told: Mapping[str, Raw]) -> list[Task]:
        """The list as it is after this call."""
        given = {} if call.given is UNSET else fields(call.given)
        match call.name:
            case "TaskCreate":
                made = _task({**given, **fields(told.get("task", Raw(b"{}")))})
                return [*self._memo.tasks, made][-MAX_TASKS:] if made.id else self._memo.tasks
            case "TaskUpdate" if told.get("success") == _TRUE:
                return self._updated(_words(told, "taskId"), given, told)
            case "TaskList" if "tasks" in told:
                active = {one.id: one.active for one in self._memo.tasks}
                listed = [_task(fields(one)) for one in blocks(told["tasks"]) or []]
                for one in listed:
                    one.active = one.active or active.get(one.id, "")
                return listed[-MAX_TASKS:]
            case _:
                return self._memo.tasks

    def _updated(self, name: str, given: Mapping[str, Raw], told: Mapping[str, Raw]) -> list[Task]:
        change = fields(told.get("statusChange", Raw(b"{}")))
        status = _words(change, "to") or _words(given, "status")
        if status == "deleted":
            return [one for one in self._memo.tasks if one.id != name]
        return [
            msgspec.structs.replace(
                one,
                content=_words(given, "subject") or one.content,
                status=status or one.status,
                active=_words(given, "activeForm") or one.active,
            )
            if one.id == name
            else one
            for one in self._memo.tasks
        ]


def _todos(raw: Raw | None) -> list[Task]:
    parts = blocks(raw) if raw is not None else None
    return [_task(fields(one)) for one in (parts or [])[:MAX_TASKS]]


def _task(told: Mapping[str, Raw]) -> Task:
    return Task(
        id=_words(told, "id"),
        content=_words(told, "content") or _words(told, "subject"),
        status=_words(told, "status") or "pending",
        active=_words(told, "activeForm"),
    )


def _words(told: Mapping[str, Raw], name: str) -> str:
    return text(told.get(name, UNSET))[:_WORDS]


# ---- patches -----------------------------------------------------------------------------------


def _patch(told: Mapping[str, Raw]) -> list[Raw]:
    """The hunks; of a new file, and of a cell, there are none until they are made here."""
    hunks = blocks(told["structuredPatch"]) if "structuredPatch" in told else None
    if hunks:
        return hunks
    old, new = text(told.get("old_source", UNSET)), text(told.get("new_source", UNSET))
    if text(told.get("type", UNSET)) == "create":
        old, new = "", text(told.get("content", UNSET))
    return [_hunk(old, new)] if old or new else []


def _hunk(old: str, new: str) -> Raw:
    before, after = _lines(old), _lines(new)
    lines = [*(f"-{one}" for one in before), *(f"+{one}" for one in after)]
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"\\ {len(lines) - MAX_LINES} more lines"]
    hunk = {
        "oldStart": 1 if before else 0,
        "oldLines": len(before),
        "newStart": 1 if after else 0,
        "newLines": len(after),
        "lines": lines,
    }
    return Raw(msgspec.json.encode(hunk))


def _lines(said: str) -> list[str]:
    lines = said.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _fitting(hunks: Sequence[Raw]) -> Raw:
    """As many hunks as an event takes; the result's own object has them all."""
    room = PATCH_BYTES
    kept: list[Raw] = []
    for one in hunks:
        room -= len(bytes(one)) + 1
        if room < 0:
            left = len(hunks) - len(kept)
            note = {"lines": [f"\\ {left} more changes, too long to be shown here"]}
            kept.append(Raw(msgspec.json.encode(note)))
            break
        kept.append(one)
    return Raw(msgspec.json.encode(kept))


def kept_input(tool: str, given: w.MaybeRaw) -> w.MaybeRaw:
    """What of a call's input its result will not repeat, and is needed then."""
    if tool not in TASK_TOOLS or given is UNSET or len(bytes(given)) > FIELD_BYTES:
        return UNSET
    return given.copy()
