from __future__ import annotations

import json
from typing import Any

import pytest

from flybridge.drivers.claude.changes import PATCH_BYTES, PLAN_CHARS
from flybridge.drivers.claude.memo import MAX_TASKS
from flybridge.model.events import Diff, Notice, PermissionAuto, Plan, Tasks
from flybridge.model.facts import ToolReturned, TurnOver
from flybridge.session.ports import Out
from flybridge.testing.drivers import SESSION
from tests.drivers.claude.cli import (
    assistant,
    can_use_tool,
    hear,
    init,
    kinds,
    line,
    only,
    result,
    text,
    tool_result,
    tool_use,
    user,
)
from tests.drivers.claude.replay import attached

HUNK = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}


def called(
    driver: Any, tool: str, name: str, detail: object, given: dict[str, Any] | None = None
) -> list[Out]:
    """What comes of a call of this tool with this result, beside the call and the result."""
    said = assistant(tool_use(tool, name, **(given or {})))
    facts = hear(driver, said, tool_result(tool, tool_use_result=detail))
    usual = ("TurnBegan", "ItemOpened", "ToolCalled", "ToolReturned")
    return [one for one in facts if type(one).__name__ not in usual]


def tasks_of(facts: list[Out]) -> list[dict[str, str]]:
    return list(json.loads(bytes(only(facts, Tasks).tasks)))


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


def test_a_patch_that_is_too_long_says_so() -> None:
    big = {**HUNK, "lines": ["+" + "x" * PATCH_BYTES]}
    detail = {"filePath": "/p/a", "structuredPatch": [HUNK, big, HUNK]}
    (diff,) = called(attached(), "t", "Edit", detail)
    assert isinstance(diff, Diff)
    first, note = json.loads(bytes(diff.patch))
    assert first == HUNK
    assert note["lines"] == ["\\ 2 more changes, too long to be shown here"]


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


# ---- tasks -----------------------------------------------------------------------------------


def test_todos_are_the_list_as_it_was_written() -> None:
    driver = attached()
    todo = {"content": "Do a", "status": "in_progress", "activeForm": "Doing a"}
    detail = {"oldTodos": [], "newTodos": [todo]}
    assert tasks_of(called(driver, "t1", "TodoWrite", detail)) == [todo]
    assert called(driver, "t2", "TodoWrite", detail) == []


def test_a_subagents_todos_are_its_own() -> None:
    driver = attached()
    hear(driver, assistant(tool_use("up", "Task")))
    hear(driver, assistant(tool_use("t", "TodoWrite"), parent="up"))
    todos = {"newTodos": [{"content": "a", "status": "pending"}]}
    facts = hear(driver, tool_result("t", parent="up", tool_use_result=todos))
    assert kinds(facts) == ["ToolReturned"]


def test_tasks_are_made_changed_listed_and_deleted() -> None:
    driver = attached()
    made = {"task": {"id": "1", "subject": "Sail"}}
    given = {"subject": "Sail", "activeForm": "Sailing"}
    one = {"id": "1", "content": "Sail", "status": "pending", "activeForm": "Sailing"}
    assert tasks_of(called(driver, "a", "TaskCreate", made, given)) == [one]
    driver = attached(memo=driver.memo(SESSION))
    began = {"success": True, "taskId": "1", "statusChange": {"to": "in_progress"}}
    facts = called(driver, "b", "TaskUpdate", began, {"taskId": "1", "subject": "Sail on"})
    going = {**one, "content": "Sail on", "status": "in_progress"}
    assert tasks_of(facts) == [going]
    two = {"id": "2", "subject": "Moor", "status": "pending"}
    listed = {"tasks": [{"id": "1", "subject": "Sail on", "status": "completed"}, two]}
    assert [one["status"] for one in tasks_of(called(driver, "c", "TaskList", listed))] == [
        "completed",
        "pending",
    ]
    gone = {"success": True, "taskId": "1", "statusChange": {"to": "deleted"}}
    assert [one["id"] for one in tasks_of(called(driver, "d", "TaskUpdate", gone))] == ["2"]


def test_the_list_is_bounded() -> None:
    todos = [{"content": str(n), "status": "pending"} for n in range(MAX_TASKS + 9)]
    facts = called(attached(), "t", "TodoWrite", {"newTodos": todos})
    assert len(tasks_of(facts)) == MAX_TASKS


def test_a_new_conversation_has_no_tasks() -> None:
    driver = attached()
    called(driver, "t", "TodoWrite", {"newTodos": [{"content": "a", "status": "pending"}]})
    facts = hear(driver, line(type="conversation_reset", trigger="clear"))
    assert tasks_of(facts) == []
    assert only(facts, Notice).text
    ready = hear(driver, init(session_id="another"))
    assert [one.agent_session for one in ready if hasattr(one, "agent_session")] == ["another"]


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
    asked = can_use_tool(tool="t", name="ExitPlanMode", input={"plan": "p" * (PLAN_CHARS + 1)})
    plan = only(hear(driver, asked), Plan)
    assert len(plan.text) == PLAN_CHARS + 2


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


# ---- slash commands ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_what_a_slash_command_prints_is_said_once(version: str) -> None:
    driver = attached(version)
    said = f"<local-command-stdout>{'Cost: $1'}</local-command-stdout>"
    old, new = (
        user(said, isReplay=True),
        assistant(text("Cost: $1"), local_command_source=said),
    )
    printed = old if version == "2.1.38" else new
    facts = hear(driver, init(), printed, result(result="Cost: $1"))
    assert only(facts, Notice).text == "Cost: $1"
    assert only(facts, TurnOver).message == ""
