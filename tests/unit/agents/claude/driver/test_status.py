from __future__ import annotations

import json
from typing import Any

from msgspec import UNSET

from flybridge.model.deliveries import Gauge
from flybridge.model.events import AgentReady, ModeChanged, ModelChanged, RateLimit, Retry
from flybridge.model.facts import TurnOver
from flybridge.session.ports import Out
from flybridge.testing.drivers import NOW_MS
from tests.harness.claude_cli import event, hear, init, kinds, line, only, result
from tests.harness.claude_recordings import attached


def message_with(usage: dict[str, Any]) -> bytes:
    return event({"type": "message_start", "message": {"id": "m", "usage": usage}})


def context_of(facts: list[Out]) -> list[tuple[int | None, int]]:
    """The gauge of the context, as often as it was shown: tokens and window."""
    shown = [one for one in facts if isinstance(one, Gauge) and one.name == "context"]
    values = [json.loads(bytes(one.value)) for one in shown]
    return [(one["tokens"], one["window"]) for one in values]


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
    assert json.loads(bytes(gauge.value)) == {"input_tokens": 10, "output_tokens": 12}


def test_the_context_is_all_that_was_given_to_the_model() -> None:
    given = {
        "input_tokens": 1,
        "cache_read_input_tokens": 2,
        "cache_creation_input_tokens": 4,
        "output_tokens": 8,
    }
    assert context_of(hear(attached(), message_with(given))) == [(7, 0)]
    assert context_of(hear(attached(), message_with({"input_tokens": "many"}))) == []


def test_after_a_compaction_the_context_is_what_is_left_or_not_known() -> None:
    driver = attached()
    hear(driver, message_with({"input_tokens": 900}))
    left = line(type="system", subtype="compact_boundary", compact_metadata={"post_tokens": 70})
    assert context_of(hear(driver, left)) == [(70, 0)]
    older = line(type="system", subtype="compact_boundary", compact_metadata={"pre_tokens": 900})
    assert context_of(hear(driver, older)) == [(None, 0)]
    window = {"m": {"contextWindow": 200}}
    over = only(hear(driver, result(modelUsage=window)), TurnOver)
    assert json.loads(bytes(over.gauges["context"])) == {"tokens": None, "window": 200}
    assert context_of(hear(driver, message_with({"input_tokens": 80}))) == [(80, 200)]


def test_a_new_conversation_has_an_empty_context() -> None:
    driver = attached()
    hear(driver, message_with({"input_tokens": 900}))
    facts = hear(driver, line(type="conversation_reset", trigger="clear"))
    assert context_of(facts) == [(0, 0)]


def test_what_may_follow_a_slash_is_told_with_who_does_it() -> None:
    names = ["cost", "init", "my-skill", "doctor"]
    said = init(slash_commands=names, terminal_slash_commands=["doctor"])
    assert only(hear(attached(), said), AgentReady).commands == {
        "cost": "local",
        "init": "prompt",
        "my-skill": "prompt",
        "doctor": "ui",
    }


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


def test_whose_turn_it_is_says_nothing_new_about_the_agent() -> None:
    driver = attached()
    hear(driver, init(user_message_uuids=["a"]))
    assert hear(driver, init(user_message_uuids=["b"])) == []
