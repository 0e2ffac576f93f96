from __future__ import annotations

from tests.harness.agent_host import Host, allow, asked, deny, kind, results, shape, shapes, spoken
from tests.harness.line_process import Json


def details(messages: list[Json]) -> list[Json]:
    return [message["tool_use_result"] for message in results(messages)]


def test_tasks_are_made_blocked_and_done() -> None:
    with Host() as host:
        messages = host.turn("tasks")
        again = host.turn("tasks")
    made = [one["task"]["id"] for one in details(messages) if "task" in one]
    assert made == ["1", "2", "3"]
    calls = [
        m["message"]["content"][0]["input"] for m in messages if shape(m) == "assistant/tool_use"
    ]
    assert [one["addBlockedBy"] for one in calls if "addBlockedBy" in one] == [["1"], ["2"]]
    changes = [
        (one["taskId"], one["statusChange"]["from"], one["statusChange"]["to"])
        for one in details(messages)
        if "statusChange" in one
    ]
    assert changes == [
        (task, before, after)
        for task in made
        for before, after in (("pending", "in_progress"), ("in_progress", "completed"))
    ]
    assert [one["task"]["id"] for one in details(again) if "task" in one] == ["4", "5", "6"]


def test_todos_are_one_list_written_anew() -> None:
    with Host() as host:
        told = details(host.turn("todos"))
    states = [[todo["status"] for todo in one["newTodos"]] for one in told]
    assert states[0] == ["in_progress", "pending", "pending"]
    assert states[-1] == ["completed"] * 3
    assert [one["oldTodos"] for one in told[1:]] == [one["newTodos"] for one in told[:-1]]


def test_subagents_are_nested_under_the_calls_that_started_them() -> None:
    with Host() as host:
        messages = host.play("agents", allow)
    starts = {
        m["message"]["content"][0]["id"]: m["message"]["content"][0]["input"]
        for m in messages
        if shape(m) == "assistant/tool_use" and m["parent_tool_use_id"] is None
    }
    assert len(starts) == 2
    nested = [m for m in messages if m.get("parent_tool_use_id") in starts]
    assert len(nested) == 8  # each: a word, a call, its result, a word
    for message in nested:
        start = starts[message["parent_tool_use_id"]]
        assert message["task_description"] == start["description"]
        assert message["subagent_type"] == start["subagent_type"]
    first, second = asked(messages)
    assert first["agent_id"] != second["agent_id"]
    inner = [m for m in results(messages) if m["parent_tool_use_id"]]
    outer = [m for m in results(messages) if not m["parent_tool_use_id"]]
    assert all("tool_use_result" not in m for m in inner)
    assert [m["tool_use_result"]["status"] for m in outer] == ["completed"] * 2
    assert not any(m["type"] == "stream_event" and m["parent_tool_use_id"] for m in messages)


def test_a_subagent_that_may_not_says_so() -> None:
    with Host() as host:
        messages = host.play("agents", deny)
    assert spoken(messages).count("I was not allowed to.") == 4
    assert len(messages[-1]["permission_denials"]) == 2


def test_an_interrupt_ends_the_calls_of_subagents_before_their_own() -> None:
    with Host() as host:
        host.prompt("agents")
        host.until(kind("control_request"))
        host.until(kind("control_request"))
        host.request("interrupt")
        messages = host.until(kind("result"))
    parents = [bool(m["parent_tool_use_id"]) for m in results(messages)]
    assert parents == [True, True, False, False]
    assert shapes(messages)[:2] == ["control_cancel_request", "control_cancel_request"]


def test_work_in_the_background_ends_with_a_turn_nobody_asked_for() -> None:
    with Host() as host:
        first = host.play("background", allow)
        second = host.until(kind("result"))
    messages = [*first, *second]
    order = [shape(m) for m in messages if m["type"] == "system"]
    for name in ("task_started", "task_updated", "task_notification"):
        assert order.count(f"system/{name}") == 1
    job = results(messages)[0]["tool_use_result"]["backgroundTaskId"]
    assert job in str(results(messages)[0]["message"])
    assert "Ding" in spoken(second)
    assert "replay" not in shapes(second)
    assert second[-1]["origin"]["kind"] == "task-notification"
    assert "origin" not in first[-1]


def test_without_a_permission_nothing_runs_in_the_background() -> None:
    with Host() as host:
        messages = host.play("background", deny)
        host.close_input()
        assert host.rest() == []
    assert "system/task_started" not in shapes(messages)
