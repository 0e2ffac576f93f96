from __future__ import annotations

import msgspec
from msgspec import Raw

from flybridge.cli.rendering.calls import DIFF_LINES, MAX_HELPERS, Calls
from flybridge.model import events as ev
from flybridge.model.ids import ItemId
from tests.harness.screen_model import Sheet

ITEM = ItemId("i1")
PATCH = [{"newStart": 1, "lines": [" a", "-b", "+c"]}]


def started(name: str, given: object, item: str = "i1") -> ev.ToolStarted:
    return ev.ToolStarted(item=ItemId(item), name=name, input=Raw(msgspec.json.encode(given)))


def returned(text: str = "ok", detail: object = None, item: str = "i1") -> ev.ToolResult:
    raw = Raw(msgspec.json.encode(detail))
    return ev.ToolResult(item=ItemId(item), text=text, detail=raw)


def calls(lines: int = 5) -> tuple[Calls, Sheet]:
    sheet = Sheet()
    return Calls(sheet, lines=lines, width=60), sheet


def shown(sheet: Sheet) -> str:
    sheet.fresh()
    return sheet.text.rstrip("\n")


def edit(told: Calls, *, detail: bool = True) -> None:
    told.started(started("Edit", {"file_path": "/home/me/a.py"}))
    told.returned(returned("changed", {"structuredPatch": PATCH} if detail else None))


def test_an_edit_is_told_as_its_difference() -> None:
    told, sheet = calls()
    told.cwd = "/home/me"
    edit(told)
    assert shown(sheet) == "● Edit a.py\n  ⎿ +1 -1\n    line 1:\n      a\n    - b\n    + c"


def test_a_difference_is_shown_once_whoever_tells_it_first() -> None:
    diff = ev.Diff(item=ITEM, path="a.py", patch=Raw(msgspec.json.encode(PATCH)))
    told, sheet = calls()
    edit(told)
    told.changed(diff)
    assert shown(sheet).count("+ c") == 1
    told, sheet = calls()
    told.started(started("Edit", {"file_path": "/a.py"}))
    told.changed(diff)
    told.returned(returned("changed", {"structuredPatch": PATCH}))
    assert shown(sheet).count("+ c") == 1


def test_in_the_past_only_the_size_of_a_difference_is_told() -> None:
    told, sheet = calls(lines=1)
    edit(told)
    assert shown(sheet).endswith("  ⎿ +1 -1")


def test_a_long_difference_is_folded() -> None:
    told, sheet = calls()
    told.started(started("Write", {"file_path": "/a"}))
    content = "x\n" * (DIFF_LINES + 3)
    told.returned(returned("made", {"type": "create", "content": content, "structuredPatch": []}))
    assert shown(sheet).endswith("    … 3 more lines")


def test_a_denied_edit_has_no_difference() -> None:
    told, sheet = calls()
    told.started(started("Edit", {"file_path": "/a"}))
    detail = Raw(msgspec.json.encode({"structuredPatch": PATCH}))
    told.returned(ev.ToolResult(item=ITEM, status="denied", text="no", detail=detail))
    assert shown(sheet) == "● Edit /a\n  ⎿ (not allowed)\n    no"


def test_a_plan_is_shown_when_it_is_decided_and_only_once() -> None:
    told, sheet = calls()
    told.started(started("ExitPlanMode", {"plan": "# Do it\nthen rest"}))
    told.returned(returned("approved\nat once\nand more"))
    told.planned("# Do it\nthen rest\n")
    text = shown(sheet)
    assert text.startswith("● ExitPlanMode Do it\n  ⎿ approved\n    … 2 more lines\n")
    assert text.endswith("· plan:\n  # Do it\n  then rest")


def test_a_plan_that_is_being_reviewed_is_not_shown_twice() -> None:
    told, sheet = calls()
    told.started(started("ExitPlanMode", {"plan": "# Do it\n"}))
    told.planned("# Do it\n")  # the prompt shows it now
    assert "plan:" not in shown(sheet)
    told.returned(returned("approved"))
    assert shown(sheet).count("# Do it") == 1
    told.planned("another")
    assert shown(sheet).endswith("  another")


def test_calls_that_change_tasks_are_told_only_until_the_list_is() -> None:
    told, sheet = calls()
    told.started(started("TaskUpdate", {"taskId": "1", "status": "done"}))
    told.returned(returned())
    assert told.tasks(ev.Tasks(tasks=Raw(b'[{"id":"1","subject":"a"}]'))) == [
        "[ ] 1. a · 0 of 1 done"
    ]
    told.started(started("TaskUpdate", {"taskId": "1", "status": "open"}, "i2"))
    told.returned(returned(item="i2"))
    assert shown(sheet) == "● TaskUpdate 1: status done"


def test_a_failed_call_that_changes_tasks_is_told() -> None:
    told, sheet = calls()
    told.tasks(ev.Tasks(tasks=Raw(b"[]")))
    told.started(started("TaskUpdate", {"taskId": "9"}))
    told.returned(ev.ToolResult(item=ITEM, status="error", text="no such task"))
    assert "no such task" in shown(sheet)


def test_an_answer_belongs_to_what_was_allowed() -> None:
    told, sheet = calls()
    told.cwd = "/home/me"
    told.started(started("Write", {"file_path": "/home/me/a"}))
    told.allowed("i1", Raw(b'{"file_path":"/home/me/b"}'))
    told.allowed("other", Raw(b"{}"))
    told.interrupted()
    told.returned(returned())
    assert shown(sheet).endswith("● Write answered: b\n  ⎿ ok")


def test_names_of_subagents_are_kept_but_not_for_ever() -> None:
    told, _ = calls()
    for number in range(MAX_HELPERS + 1):
        told.started(started("Agent", {"subagent_type": f"n{number}"}, f"i{number}"))
    assert told.name_of("i0", ": ") == ""
    assert told.name_of(f"i{MAX_HELPERS}", ": ") == f"n{MAX_HELPERS}: "
