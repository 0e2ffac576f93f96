from __future__ import annotations

import json
from typing import Any

from flybridge.agents.claude.driver.memo import MAX_TASKS
from flybridge.model.events import Notice, Tasks
from flybridge.session.ports import Out
from flybridge.testing.drivers import SESSION
from tests.harness.claude_cli import (
    assistant,
    called,
    hear,
    init,
    kinds,
    line,
    only,
    tool_result,
    tool_use,
)
from tests.harness.claude_recordings import attached


def tasks_of(facts: list[Out]) -> list[dict[str, Any]]:
    return list(json.loads(bytes(only(facts, Tasks).tasks)))


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


def made(driver: Any, *names: str) -> None:
    for name in names:
        detail = {"task": {"id": name, "subject": f"Task {name}"}}
        called(driver, f"make-{name}", "TaskCreate", detail)


def updated(driver: Any, tool: str, name: str, **given: Any) -> list[dict[str, Any]]:
    detail = {"success": True, "taskId": name, "updatedFields": list(given)}
    return tasks_of(called(driver, tool, "TaskUpdate", detail, {"taskId": name, **given}))


def test_what_waits_for_what_is_known_from_both_ends() -> None:
    driver = attached()
    made(driver, "1", "2", "3")
    one, two, three = updated(driver, "a", "3", addBlockedBy=["1", "2"])
    assert three["blockedBy"] == ["1", "2"]
    assert (one["blocks"], two["blocks"]) == (["3"], ["3"])
    one, two, _ = updated(driver, "b", "1", addBlocks=["2"], addBlockedBy=[])
    assert (one["blocks"], two["blockedBy"]) == (["3", "2"], ["1"])


def test_a_link_is_there_once_however_often_it_is_made() -> None:
    driver = attached()
    made(driver, "1", "2")
    updated(driver, "a", "2", addBlockedBy=["1"])
    again = called(
        driver,
        "b",
        "TaskUpdate",
        {"success": True, "taskId": "2"},
        {"taskId": "2", "addBlockedBy": ["1"]},
    )
    assert again == []


def test_a_task_that_is_deleted_holds_nothing_up() -> None:
    driver = attached()
    made(driver, "1", "2")
    updated(driver, "a", "2", addBlockedBy=["1"])
    (two,) = updated(driver, "b", "1", status="deleted")
    assert "blockedBy" not in two


def test_a_task_has_an_owner_and_may_lose_it() -> None:
    driver = attached()
    made(driver, "1")
    (task,) = updated(driver, "a", "1", owner="ada", activeForm="Sailing")
    assert (task["owner"], task["activeForm"]) == ("ada", "Sailing")
    (task,) = updated(driver, "b", "1", owner="")
    assert "owner" not in task


def test_a_list_tells_who_waits_and_the_rest_is_kept() -> None:
    driver = attached()
    detail = {"task": {"id": "1", "subject": "Sail"}}
    called(driver, "a", "TaskCreate", detail, {"subject": "Sail", "activeForm": "Sailing"})
    rows = [
        {"id": "1", "subject": "Sail", "status": "pending", "owner": "ada", "blockedBy": []},
        {"id": "2", "subject": "Moor", "status": "pending", "blockedBy": ["1"]},
    ]
    one, two = tasks_of(called(driver, "b", "TaskList", {"tasks": rows}))
    assert one == {
        "id": "1",
        "content": "Sail",
        "status": "pending",
        "activeForm": "Sailing",
        "owner": "ada",
        "blocks": ["2"],
    }
    assert two["blockedBy"] == ["1"]


def test_one_task_looked_at_is_that_task_anew() -> None:
    driver = attached()
    made(driver, "1", "2")
    seen = {"task": {"id": "2", "subject": "Moor", "status": "completed", "blocks": ["1"]}}
    one, two = tasks_of(called(driver, "a", "TaskGet", seen))
    assert (two["content"], two["status"], two["blocks"]) == ("Moor", "completed", ["1"])
    assert one["content"] == "Task 1"
    assert called(driver, "b", "TaskGet", {"task": None}) == []
