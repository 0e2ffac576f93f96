from __future__ import annotations

import json

from msgspec import UNSET

from flybridge.model.deliveries import Gauge
from flybridge.model.events import AgentReady, ModeChanged, ModelChanged, Notice, RateLimit, Retry
from flybridge.testing.drivers import NOW_MS
from tests.drivers.claude.cli import event, hear, init, kinds, line, only
from tests.drivers.claude.replay import attached


def test_what_the_agent_says_of_itself_is_passed_on_when_it_is_news() -> None:
    driver = attached()
    ready = only(
        hear(driver, init(uuid="1", claude_code_version="9.9", tools=["Bash"])), AgentReady
    )
    assert (ready.agent_session, ready.model, ready.mode) == ("s", "m", "default")
    assert ready.version == "9.9"
    assert ready.detail is not UNSET
    assert json.loads(bytes(ready.detail))["tools"] == ["Bash"]
    assert hear(driver, init(uuid="2", claude_code_version="9.9", tools=["Bash"])) == []
    changed = hear(driver, init(uuid="3", claude_code_version="9.9", tools=["Bash", "Read"]))
    assert kinds(changed) == ["AgentReady"]


def test_a_change_of_model_or_mode_is_told_once() -> None:
    driver = attached()
    assert kinds(hear(driver, init())) == ["TurnBegan", "AgentReady"]
    facts = hear(driver, init(model="n", permissionMode="plan"))
    assert facts[1:] == [ModelChanged(model="n"), ModeChanged(mode="plan")]
    status = line(type="system", subtype="status", status=None, permissionMode="acceptEdits")
    assert hear(driver, status, status) == [ModeChanged(mode="acceptEdits")]


def test_a_retry_says_when() -> None:
    retry = line(
        type="system", subtype="api_retry", attempt=2, retry_delay_ms=500.5, error="overloaded"
    )
    assert hear(attached(), retry) == [Retry(attempt=2, at_ms=NOW_MS + 500, reason="overloaded")]


def test_an_absurd_retry_stays_in_bounds() -> None:
    retry = line(type="system", subtype="api_retry", attempt=10**30, retry_delay_ms=1e300)
    (fact,) = hear(attached(), retry)
    assert fact == Retry(attempt=1_000_000, at_ms=NOW_MS + 86_400_000)


def test_a_rate_limit_says_until_when() -> None:
    info = {"status": "allowed_warning", "resetsAt": 1794749839, "utilization": 0.91}
    (fact,) = hear(attached(), line(type="rate_limit_event", rate_limit_info=info))
    assert isinstance(fact, RateLimit)
    assert (fact.status, fact.resets_ms) == ("allowed_warning", 1794749839000)
    assert fact.detail is not UNSET
    assert json.loads(bytes(fact.detail)) == info


def test_usage_is_a_gauge_and_shown_when_it_moves() -> None:
    driver = attached()
    head = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 10}}}
    facts = hear(driver, event(head), event(head))
    assert [one.name for one in facts if isinstance(one, Gauge)] == ["usage", "context"]
    grown = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 12}}
    (gauge,) = hear(driver, event(grown))
    assert isinstance(gauge, Gauge)
    assert json.loads(bytes(gauge.value)) == {"output_tokens": 12}


def test_a_sub_agents_usage_is_not_the_sessions() -> None:
    grown = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 12}}
    assert hear(attached(), event(grown, "agent")) == []


def test_seconds_in_a_tool_are_a_gauge() -> None:
    progress = line(
        type="tool_progress", tool_use_id="x", parent_tool_use_id="t1", elapsed_time_seconds=30
    )
    (gauge,) = hear(attached(), progress)
    assert isinstance(gauge, Gauge)
    assert json.loads(bytes(gauge.value)) == {"item": "t1", "seconds": 30}


def test_a_task_in_the_foreground_is_no_news() -> None:
    driver = attached()
    for subtype in ("task_started", "task_progress", "task_updated", "background_tasks_changed"):
        assert hear(driver, line(type="system", subtype=subtype, is_backgrounded=False)) == []


def test_a_task_in_the_background_is_told_when_it_begins_and_ends() -> None:
    driver = attached()
    start = line(
        type="system", subtype="task_started", is_backgrounded=True, description="count the waves"
    )
    end = line(type="system", subtype="task_notification", status="completed", summary="12 waves")
    assert hear(driver, start, end) == [
        Notice(text="in the background: count the waves"),
        Notice(text="completed: 12 waves"),
    ]


def test_what_a_person_should_read_is_a_notice() -> None:
    driver = attached()
    told = line(type="system", subtype="informational", content="mind the gap", level="warning")
    reset = line(type="conversation_reset", trigger="clear", new_conversation_id="u")
    assert hear(driver, told, reset) == [
        Notice(text="mind the gap", level="warning"),
        Notice(text="the agent begins a new conversation"),
    ]
    empty = line(type="system", subtype="informational")
    assert kinds(hear(driver, empty)) == ["Unrecognised"]
    other = line(type="hologram", subtype="task_updated")
    assert kinds(hear(driver, other)) == ["Unrecognised"]


def test_whose_turn_it_is_says_nothing_new_about_the_agent() -> None:
    driver = attached()
    hear(driver, init(user_message_uuids=["a"]))
    assert hear(driver, init(user_message_uuids=["b"])) == []


def test_a_hook_is_told_of_only_where_it_failed() -> None:
    ran = {"type": "system", "subtype": "hook_response", "hook_name": "Stop"}
    assert hear(attached(), line(**ran, exit_code=0, outcome="success", stdout="fine")) == []
    failed = hear(attached(), line(**ran, exit_code=1, outcome="error", stderr="no rope"))
    assert failed == [Notice(text="Stop: no rope", level="warning")]


def test_a_refusal_is_told_and_so_is_the_model_that_took_over() -> None:
    driver = attached()
    refused = {"type": "system", "subtype": "model_refusal_fallback", "content": "Flagged."}
    facts = hear(driver, line(**refused, scope="session", fallback_model="other"))
    assert facts == [Notice(text="Flagged.", level="warning"), ModelChanged(model="other")]
    alone = line(type="system", subtype="model_refusal_no_fallback", api_refusal_category="cyber")
    assert hear(driver, alone) == [Notice(text="the model refused: cyber", level="warning")]


def test_a_summary_of_calls_is_a_notice() -> None:
    assert hear(attached(), line(type="tool_use_summary", summary="Hoisted.")) == [
        Notice(text="Hoisted.")
    ]
