from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw

from flybridge.drivers.claude.driver import ClaudeDriver
from flybridge.drivers.claude.memo import MAX_REQUESTS
from flybridge.drivers.claude.requests import QUERY_MS
from flybridge.model.capabilities import LinkEnd, OpenSpec, Options
from flybridge.model.commands import (
    Command,
    Interrupt,
    Mcp,
    SetEffort,
    SetMode,
    SetModel,
    SetThinking,
    StopTask,
)
from flybridge.model.deliveries import Answer
from flybridge.model.events import AgentReady, ModeChanged, ModelChanged, Notice
from flybridge.model.facts import InputConfirmed, InputRejected
from flybridge.model.ids import InputKey
from flybridge.testing.drivers import INCARNATION, NOW_MS, SESSION
from tests.drivers.claude.cli import hear, kinds, line, only, refused, response, say, tell
from tests.drivers.claude.replay import attached

KEY = InputKey("test:1")


def test_the_first_thing_said_is_initialize() -> None:
    driver = attached()
    driver.connected(NOW_MS)
    (line,) = driver.take().lines
    assert json.loads(line.data) == {
        "type": "control_request",
        "request_id": "fb-kit-1",
        "request": {"subtype": "initialize"},
    }
    assert (line.key, line.on_restart) == (None, "send")


def test_its_answer_introduces_the_agent_before_any_turn() -> None:
    driver = attached()
    driver.connected(NOW_MS)
    driver.take()
    told = {"commands": [], "current_permission_mode": "plan", "account": {"email": "a@b"}}
    ready = only(hear(driver, response("fb-kit-1", response=told)), AgentReady)
    assert (ready.mode, ready.version) == ("plan", "2.1.325")
    assert ready.detail is not UNSET
    assert list(json.loads(bytes(ready.detail))) == ["commands", "current_permission_mode"]


def test_a_failed_initialize_is_a_notice() -> None:
    driver = attached()
    driver.connected(NOW_MS)
    driver.take()
    (fact,) = hear(driver, response("fb-kit-1", subtype="error", error="Already initialized"))
    assert fact == Notice(text="initialize: Already initialized", level="warning")


def test_ids_are_counted_and_never_used_twice_in_a_life() -> None:
    driver = attached()
    names = [tell(driver, Interrupt())[0]["request_id"] for _ in range(3)]
    assert names == ["fb-kit-1", "fb-kit-2", "fb-kit-3"]
    again = attached(memo=driver.memo(SESSION))
    assert tell(again, Interrupt())[0]["request_id"] == "fb-kit-4"


def test_an_interrupt_is_confirmed_and_not_sent_again_after_a_restart() -> None:
    driver = attached()
    driver.send(SESSION, Interrupt(), KEY, NOW_MS)
    (line,) = driver.take().lines
    assert json.loads(line.data)["request"] == {
        "subtype": "interrupt",
        "cancel_queued": True,
    }
    assert (line.key, line.on_restart) == (KEY, "drop")
    done = response("fb-kit-1", response={"still_queued": []})
    assert hear(driver, done) == [InputConfirmed(key=KEY)]


def test_a_model_is_the_one_the_agent_says_it_took() -> None:
    driver = attached()
    assert tell(driver, SetModel(model="opus"))[0]["request"] == {
        "subtype": "set_model",
        "model": "opus",
    }
    facts = hear(driver, response("fb-kit-1", response={"model": "claude-opus"}))
    assert facts == [ModelChanged(model="claude-opus"), InputConfirmed(key=KEY)]
    tell(driver, SetModel(model="haiku"))
    assert hear(driver, response("fb-kit-2")) == [
        ModelChanged(model="haiku"),
        InputConfirmed(key=KEY),
    ]


def test_a_mode_confirmed_twice_is_changed_once() -> None:
    driver = attached("2.1.38")
    tell(driver, SetMode(mode="plan"))
    facts = hear(driver, response("fb-kit-1", response={"mode": "plan"}), response("fb-kit-1"))
    assert facts == [ModeChanged(mode="plan"), InputConfirmed(key=KEY)]


def test_a_refusal_of_the_agents_is_passed_on() -> None:
    driver = attached()
    tell(driver, SetMode(mode="dontAsk"))
    error = response("fb-kit-1", subtype="error", error="must be one of")
    assert hear(driver, error) == [InputRejected(key=KEY, reason="must be one of")]
    tell(driver, SetMode(mode="dontAsk"))
    strange = response("fb-kit-2", subtype="error", error={"code": 7})
    assert hear(driver, strange) == [InputRejected(key=KEY, reason="refused")]


def test_an_answer_to_nothing_we_asked_is_kept_as_it_is() -> None:
    assert kinds(hear(attached(), response("somebody-elses"))) == ["Unrecognised"]


def test_a_value_that_cannot_be_written_is_refused() -> None:
    assert kinds(refused(attached(), SetModel(model="\ud83d"))) == ["InputRejected"]


def test_requests_without_an_answer_are_bounded() -> None:
    driver = attached()
    for _ in range(MAX_REQUESTS + 1):
        tell(driver, Interrupt())
    assert hear(driver, response("fb-kit-1")) == []
    assert kinds(hear(driver, response("fb-kit-2"))) == ["InputConfirmed"]


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"agent_session": "a"}, "a"),
        ({"agent_session": "a", "resume": True}, "a"),
        ({"agent_session": "a", "resume": True, "fork": True, "fork_session": "b"}, "b"),
        ({"agent_session": "a", "resume": True, "fork": True}, ""),
        ({"agent_session": "a", "continue_latest": True}, ""),
    ],
)
def test_a_conversation_is_never_said_to_be_the_one_it_was_copied_from(
    more: dict[str, Any], named: str
) -> None:
    driver = attached()
    driver.attach(SESSION, INCARNATION, OpenSpec(agent="claude", cwd="/p", **more), b"")
    driver.connected(NOW_MS)
    driver.take()
    ready = only(hear(driver, response("fb-kit-1", response={})), AgentReady)
    assert ready.agent_session == named


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "request_body"),
    [
        (
            SetThinking(tokens=4000),
            {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 4000},
        ),
        (
            SetThinking(tokens=-1),
            {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": None},
        ),
        (
            SetEffort(effort="high"),
            {"subtype": "apply_flag_settings", "settings": {"effortLevel": "high"}},
        ),
        (StopTask(task="b1"), {"subtype": "stop_task", "task_id": "b1"}),
        (
            Mcp(server="s", action="reconnect"),
            {"subtype": "mcp_reconnect", "serverName": "s"},
        ),
        (
            Mcp(server="s", action="disable"),
            {"subtype": "mcp_toggle", "serverName": "s", "enabled": False},
        ),
        (
            Mcp(server="s", action="enable"),
            {"subtype": "mcp_toggle", "serverName": "s", "enabled": True},
        ),
    ],
)
def test_a_setting_is_asked_for_and_confirmed(
    command: Command, request_body: dict[str, object]
) -> None:
    driver = attached()
    assert tell(driver, command)[0]["request"] == request_body
    assert hear(driver, response("fb-kit-1")) == [InputConfirmed(key=KEY)]


@pytest.mark.parametrize("command", [StopTask(task="b1"), SetEffort(effort="high")])
def test_what_an_old_version_never_answers_is_not_asked(command: Command) -> None:
    assert kinds(refused(attached("2.1.38"), command)) == ["InputRejected"]


def bypassing(spec: OpenSpec) -> ClaudeDriver:
    driver = attached("2.1.38")
    driver.attach(SESSION, INCARNATION, spec, b"")
    return driver


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "bypassPermissions"},
        {"options": Options(allow_bypass=True)},
        {"options": Options(skip_permissions=True)},
    ],
)
def test_permissions_are_bypassed_only_where_the_session_was_opened_for_it(
    more: dict[str, Any],
) -> None:
    plain = bypassing(OpenSpec(agent="claude", cwd="/p"))
    assert kinds(refused(plain, SetMode(mode="bypassPermissions"))) == ["InputRejected"]
    driver = bypassing(OpenSpec(agent="claude", cwd="/p", **more))
    (written,) = tell(driver, SetMode(mode="bypassPermissions"))
    assert written["request"]["mode"] == "bypassPermissions"


def test_what_an_interrupt_took_back_is_rejected_once() -> None:
    driver = attached()
    uuid = say(driver, key="waits")["uuid"]
    tell(driver, Interrupt())
    dropped = line(type="command_lifecycle", command_uuid=uuid, state="cancelled")
    done = response("fb-kit-1", response={"still_queued": [], "cancelled": [uuid, "x", 7]})
    assert hear(driver, done, dropped) == [
        InputRejected(key=InputKey("waits"), reason="cancelled"),
        InputConfirmed(key=KEY),
    ]


# ---- queries -------------------------------------------------------------------------------------


def asked(driver: ClaudeDriver, name: str = "mcp", ref: str = "ref") -> list[bytes]:
    driver.query(SESSION, ref, name, Raw(b"{}"))
    return [line.data for line in driver.take().lines]


def test_a_query_gets_the_agents_answer() -> None:
    driver = attached()
    (written,) = asked(driver)
    assert json.loads(written)["request"] == {"subtype": "mcp_status"}
    value = Raw(b'{"mcpServers":[]}')
    assert hear(driver, response("fb-kit-1", response={"mcpServers": []})) == [
        Answer("ref", value=value)
    ]
    assert driver.deadline_ms is None


def test_a_query_the_agent_refuses_says_why() -> None:
    driver = attached()
    asked(driver, "context")
    error = response("fb-kit-1", subtype="error", error="no")
    assert hear(driver, error) == [Answer("ref", error="no")]


def test_a_query_without_an_answer_is_given_up() -> None:
    driver = attached()
    asked(driver)
    assert driver.deadline_ms == 0
    driver.tick(NOW_MS)
    assert driver.deadline_ms == NOW_MS + QUERY_MS
    driver.tick(NOW_MS + QUERY_MS - 1)
    assert driver.take().out == []
    driver.tick(NOW_MS + QUERY_MS)
    assert [what for _, what in driver.take().out] == [Answer("ref", error="timeout")]
    assert driver.deadline_ms is None
    assert hear(driver, response("fb-kit-1", response={})) == []


def test_an_old_version_is_not_asked_what_it_never_answers() -> None:
    driver = attached("2.1.38")
    driver.query(SESSION, "ref", "context", Raw(b"{}"))
    output = driver.take()
    assert output.lines == []
    assert [what for _, what in output.out] == [Answer("ref", error="not_supported")]


def test_queries_are_bounded_and_end_with_the_agent() -> None:
    driver = attached()
    for n in range(MAX_REQUESTS):
        assert asked(driver, ref=f"r{n}")
    assert asked(driver) == []
    driver.lost(LinkEnd(why="exit"), NOW_MS)
    out = [what for _, what in driver.take().out]
    assert out == [Answer(f"r{n}", error="agent_exited") for n in range(MAX_REQUESTS)]


def test_nobody_waits_for_an_answer_after_a_restart() -> None:
    driver = attached()
    asked(driver)
    again = attached(memo=driver.memo(SESSION))
    assert hear(again, response("fb-kit-1", response={})) == []
