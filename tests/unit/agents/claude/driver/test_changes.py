from __future__ import annotations

import json
from typing import Any

import pytest

from flybridge.agents.claude.driver.changes import PATCH_BYTES
from flybridge.model.events import BackgroundChanged, Diff, PermissionAuto, Plan
from flybridge.model.facts import ToolReturned, TurnOver
from flybridge.session.ports import BLOB_BYTES, Out
from tests.harness.claude_cli import (
    assistant,
    called,
    can_use_tool,
    hear,
    init,
    kinds,
    line,
    only,
    result,
    tool_result,
    tool_use,
)
from tests.harness.claude_recordings import attached

HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}


# ---- files -----------------------------------------------------------------------------------


def test_an_edit_shows_its_hunks_after_its_result() -> None:
    driver = attached()
    detail = {"filePath": "/p/a", "structuredPatch": [HUNK], "originalFile": "a"}
    facts = hear(driver, assistant(tool_use("t", "Edit")), tool_result("t", tool_use_result=detail))
    assert kinds(facts)[-2:] == ["ToolReturned", "Diff"]
    diff = only(facts, Diff)
    assert (diff.item, diff.path, json.loads(bytes(diff.patch))) == ("t", "/p/a", [HUNK])


def test_a_new_file_is_all_plus() -> None:
    detail = {"type": "create", "filePath": "/p/n", "content": "x\ny\n", "structuredPatch": []}
    (diff,) = called(attached(), "t", "Write", detail)
    assert isinstance(diff, Diff)
    (hunk,) = json.loads(bytes(diff.patch))
    assert (hunk["oldLines"], hunk["newLines"], hunk["lines"]) == (0, 2, ["+x", "+y"])


def test_a_cell_of_a_notebook_is_old_and_new() -> None:
    detail = {"notebook_path": "/p/n.ipynb", "old_source": "a=1", "new_source": "a=2"}
    (diff,) = called(attached(), "t", "NotebookEdit", detail)
    assert isinstance(diff, Diff)
    assert json.loads(bytes(diff.patch))[0]["lines"] == ["-a=1", "+a=2"]


def diffed(name: str, detail: dict[str, Any]) -> tuple[Diff, dict[str, bytes]]:
    """The change that a call tells, and the blobs beside it."""
    driver = attached()
    driver.receive([assistant(tool_use("t", name)), tool_result("t", tool_use_result=detail)], 0)
    output = driver.take()
    return only([what for _, what in output.out], Diff), output.blobs


def test_a_patch_too_long_for_a_row_is_cut_there_and_whole_in_a_blob() -> None:
    big = {**HUNK, "lines": ["+first", "+" + "x" * BLOB_BYTES]}
    hunks = [HUNK, big, HUNK]
    diff, blobs = diffed("Edit", {"filePath": "/p/a", "structuredPatch": hunks})
    first, cut, note = json.loads(bytes(diff.patch))
    assert first == HUNK
    assert cut["lines"] == ["+first", "\\ 1 more lines"]
    assert note["lines"] == ["\\ 1 more changes, too long to be shown here"]
    assert json.loads(blobs[diff.blob]) == hunks
    assert len(bytes(diff.patch)) < PATCH_BYTES


def test_a_long_new_file_shows_its_first_lines() -> None:
    lines = [f"line {n}" for n in range(20_000)]
    detail = {"type": "create", "filePath": "/p/a", "content": "\n".join(lines)}
    diff, blobs = diffed("Write", detail)
    (hunk,) = json.loads(bytes(diff.patch))
    assert (hunk["lines"][0], hunk["newLines"]) == ("+line 0", 20_000)
    assert hunk["lines"][-1] == f"\\ {20_000 - len(hunk['lines']) + 1} more lines"
    assert len(json.loads(blobs[diff.blob])[0]["lines"]) == 20_000


def test_a_patch_that_fits_has_no_blob() -> None:
    diff, _ = diffed("Edit", {"filePath": "/p/a", "structuredPatch": [HUNK]})
    assert diff.blob == ""


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("mcp__x__Edit", {"filePath": "/p/a", "structuredPatch": [HUNK]}),
        ("Edit", "Error: no such file"),
        ("Edit", {"filePath": 7, "structuredPatch": [HUNK]}),
        ("Edit", {"filePath": "/p/a", "structuredPatch": 7}),
        ("Write", {"filePath": "/p/a", "structuredPatch": []}),
        ("TodoWrite", 7),
        ("TaskUpdate", {"success": False, "taskId": "1"}),
        ("TaskCreate", {"task": 7}),
        ("ExitPlanMode", {"plan": None}),
    ],
)
def test_what_is_not_understood_changes_nothing(name: str, detail: object) -> None:
    assert called(attached(), "t", name, detail) == []


def test_a_call_that_failed_changed_nothing() -> None:
    detail = {"filePath": "/p/a", "structuredPatch": [HUNK]}
    failed = tool_result("t", is_error=True, tool_use_result=detail)
    facts = hear(attached(), assistant(tool_use("t", "Edit")), failed)
    assert "Diff" not in kinds(facts)


# ---- plans -----------------------------------------------------------------------------------


def test_a_plan_is_told_once_from_the_call_or_the_prompt() -> None:
    driver = attached()
    facts = hear(driver, assistant(tool_use("t", "ExitPlanMode", plan="# Sail")))
    assert only(facts, Plan) == Plan(text="# Sail")
    asked = can_use_tool(tool="t", name="ExitPlanMode", input={"plan": "# Sail"})
    assert kinds(hear(driver, asked)) == ["PermissionAsked"]


def test_a_plan_the_call_leaves_out_is_in_the_prompt() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t", "ExitPlanMode")))
    asked = can_use_tool(tool="t", name="ExitPlanMode", input={"plan": "# Moor"})
    assert only(hear(driver, asked), Plan).text == "# Moor"


def test_a_plan_too_long_for_a_row_has_a_head_there_and_is_whole_in_a_blob() -> None:
    driver = attached()
    long = "p" * (BLOB_BYTES + 1)
    driver.receive([assistant(tool_use("t", "ExitPlanMode", plan=long))], 0)
    output = driver.take()
    plan = only([what for _, what in output.out], Plan)
    assert plan.text == long[: len(plan.text)]
    assert output.blobs[plan.blob].decode() == long


# ---- what the CLI denies by itself ---------------------------------------------------------------


def test_a_call_that_a_rule_denied_is_told_when_its_result_comes() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("t", "Bash")))
    meta = [{"id": "t", "permission_decision": {"decision": "reject", "source": "config"}}]
    facts = hear(driver, tool_result("t", is_error=True, tool_result_meta=meta))
    assert only(facts, PermissionAuto).tool == "Bash"
    assert only(facts, ToolReturned).status == "denied"


def test_an_older_version_tells_it_at_the_end_of_the_turn() -> None:
    driver = attached("2.1.38")
    hear(driver, init(), assistant(tool_use("t", "Bash")), tool_result("t", is_error=True))
    denials = [{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}]
    facts = hear(driver, result(permission_denials=denials))
    assert only(facts, PermissionAuto).item == "t"
    assert isinstance(facts[-1], TurnOver)


# ---- what runs beside the conversation ---------------------------------------------------------


def listed(*names: str) -> bytes:
    tasks = [{"task_id": name, "description": "d"} for name in names]
    return line(type="system", subtype="background_tasks_changed", tasks=tasks)


def running(facts: list[Out]) -> list[list[str]]:
    changed = [one for one in facts if isinstance(one, BackgroundChanged)]
    return [[json.loads(bytes(task))["task_id"] for task in one.tasks] for one in changed]


def test_what_the_cli_lists_runs_until_it_is_listed_no_more() -> None:
    driver = attached()
    facts = hear(driver, listed("a"), listed("a"), listed("a", "b"), listed())
    assert running(facts) == [["a"], ["a", "b"], []]
    assert called(driver, "t", "Bash", {"stdout": "", "backgroundTaskId": "c"}) == []


def test_a_version_that_lists_nothing_has_it_run_from_the_result_on() -> None:
    facts = called(attached(), "t", "Bash", {"stdout": "", "backgroundTaskId": "a"})
    assert running(facts) == [["a"]]
    assert called(attached(), "t", "Bash", {"stdout": ""}) == []
