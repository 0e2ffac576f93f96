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

from flybridge.agents.claude.driver.convert.shapes import background_of, hunks_of
from flybridge.agents.claude.driver.memo import MAX_AGENTS, MAX_TASKS, Memo, OpenTool, bound
from flybridge.agents.claude.driver.sink import Sink
from flybridge.agents.claude.driver.tasks import TaskList
from flybridge.agents.claude.wire import messages as w
from flybridge.agents.claude.wire.decode import blocks, fields, text
from flybridge.model.events import BackgroundChanged, Diff, Plan
from flybridge.model.ids import ItemId
from flybridge.model.tools import limited
from flybridge.session.ports import BLOB_BYTES

PLAN_TOOL = "ExitPlanMode"
PATCH_BYTES = BLOB_BYTES // 2
MAX_LINES = 2000
MAX_TASK_BYTES = 2048
_WORDS = 512
_HUNK = ("oldStart", "oldLines", "newStart", "newLines", "lines")


class Changes:
    def __init__(self, memo: Memo, sink: Sink) -> None:
        self._memo = memo
        self._sink = sink
        self._tasks = TaskList(memo, sink)

    # ---- sub-agents ----------------------------------------------------------------------------

    def agent_started(self, agent: str, call: str) -> None:
        """Note which call started a sub-agent: it may ask before its first own call is told."""
        if agent and call:
            bound(self._memo.calls, MAX_AGENTS)
            self._memo.calls[agent[:_WORDS]] = call[:_WORDS]

    # ---- plans ---------------------------------------------------------------------------------

    def plan_in(self, tool: str, given: Mapping[str, Raw], parent: ItemId) -> None:
        """Report the plan that a call submits; the prompt for it has the same plan again."""
        if tool == PLAN_TOOL and "plan" in given:
            self._planned(text(given["plan"]), parent)

    def _planned(self, said: str, parent: ItemId) -> None:
        checksum = zlib.crc32(said.encode())
        if not said.strip() or checksum == self._memo.plan:
            return
        self._memo.plan = checksum
        head, blob = self._sink.text(said)
        self._sink.put(Plan(text=head, parent=parent, blob=blob))

    # ---- results -------------------------------------------------------------------------------

    def made_by(self, call: OpenTool, detail: w.MaybeRaw) -> None:
        """Tell what a call that succeeded has changed."""
        if detail is UNSET:
            return
        if call.name == "Bash":
            self._sent_to_background(fields(detail))
        elif call.name in ("Edit", "Write", "NotebookEdit"):
            self._changed(call.item, fields(detail))
        elif call.name == PLAN_TOOL:
            self._planned(text(fields(detail).get("plan", UNSET)), call.parent)
        else:
            self._tasks.changed_by(call, detail)

    def _changed(self, item: ItemId, told: Mapping[str, Raw]) -> None:
        path = _words(told, "filePath") or _words(told, "notebook_path")
        patch = _patch(told)
        if path and patch:
            whole = msgspec.json.encode(patch)
            fits = len(whole) <= PATCH_BYTES  # it stands in the row twice
            shown = Raw(whole) if fits else _fitting(patch)
            blob = "" if fits else self._sink.store(whole)
            hunks = hunks_of(shown)
            self._sink.put(Diff(item=item, path=path, patch=shown, blob=blob, hunks=hunks))

    def background(self, tasks: list[Raw]) -> None:
        """All that runs beside the conversation now, as the CLI lists it."""
        self._memo.lists_background = True
        self._in_background(tasks)

    def _in_background(self, tasks: list[Raw]) -> None:
        kept = [one.copy() for one in tasks[:MAX_TASKS] if len(bytes(one)) <= MAX_TASK_BYTES]
        if kept != self._memo.background:
            self._memo.background = kept
            self._sink.put(BackgroundChanged(tasks=tuple(kept), running=background_of(kept)))

    def _sent_to_background(self, told: Mapping[str, Raw]) -> None:
        """A command goes on after its result. A version that lists none never tells its end."""
        name = _words(told, "backgroundTaskId")
        if name and not self._memo.lists_background:
            task = Raw(msgspec.json.encode({"task_id": name}))
            self._in_background([*self._memo.background, task])

    def new_conversation(self) -> None:
        """The agent has forgotten its tasks, and its plan."""
        self._memo.plan = 0
        self._tasks.becomes([])


def _words(told: Mapping[str, Raw], name: str) -> str:
    return limited(text(told.get(name, UNSET)), _WORDS)


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
    hunk = {
        "oldStart": 1 if before else 0,
        "oldLines": len(before),
        "newStart": 1 if after else 0,
        "newLines": len(after),
        "lines": [*(f"-{one}" for one in before), *(f"+{one}" for one in after)],
    }
    return Raw(msgspec.json.encode(hunk))


def _lines(said: str) -> list[str]:
    lines = said.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _fitting(hunks: Sequence[Raw]) -> Raw:
    """As many hunks as an event takes, the last one cut; the blob has them all."""
    room = PATCH_BYTES
    kept: list[Raw] = []
    for one in hunks:
        if len(bytes(one)) > room:
            kept.append(_cut(one, room))
            left = len(hunks) - len(kept)
            if left:
                kept.append(_note(f"\\ {left} more changes, too long to be shown here"))
            break
        kept.append(one)
        room -= len(bytes(one)) + 1
    return Raw(msgspec.json.encode(kept))


def _cut(hunk: Raw, room: int) -> Raw:
    """The first lines of a hunk, and how many more there are."""
    told = fields(hunk)
    lines = blocks(told.get("lines", Raw(b"[]"))) or []
    kept: list[Raw] = []
    for one in lines:
        room -= len(bytes(one)) + 1
        if room < 0 or len(kept) == MAX_LINES:
            break
        kept.append(one)
    kept.append(Raw(msgspec.json.encode(f"\\ {len(lines) - len(kept)} more lines")))
    told["lines"] = Raw(msgspec.json.encode(kept))
    return Raw(msgspec.json.encode({name: told[name] for name in _HUNK if name in told}))


def _note(said: str) -> Raw:
    return Raw(msgspec.json.encode({"lines": [said]}))
