from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from flybridge.agents.claude.driver.arguments import build_args
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.agents.claude.driver.memo import MAX_REQUESTS
from flybridge.agents.claude.driver.names import message_of
from flybridge.agents.claude.driver.requests import CONNECT_MS, MAX_URL, WITHIN_MS
from flybridge.agents.claude.options import SCHEMA
from flybridge.model.capabilities import LinkEnd, OpenSpec, Options
from flybridge.model.commands import (
    CancelQueued,
    Command,
    Interrupt,
    Mcp,
    SetEffort,
    SetFast,
    SetMode,
    SetModel,
    SetThinking,
    StopTask,
)
from flybridge.model.events import AgentReady, ModeChanged, ModelChanged, Notice
from flybridge.model.facts import (
    InputConfirmed,
    InputRejected,
    InputUnanswered,
    LinkEnded,
    LinkUp,
    TurnBegan,
    TurnOver,
)
from flybridge.model.ids import InputKey
from flybridge.model.legacy_options import from_legacy, start_fields
from flybridge.session.decide import open_session
from flybridge.session.incarnations import start_spec
from flybridge.session.ports import Out
from flybridge.testing.drivers import INCARNATION, NOW_MS, SESSION
from tests.harness.claude_cli import hear, init, kinds, line, only, refused, response, say, tell
from tests.harness.claude_recordings import attached
from tests.harness.session_sim import Sim

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


def test_requests_without_an_answer_are_bounded_and_none_is_forgotten() -> None:
    driver = attached()
    for n in range(MAX_REQUESTS):
        tell(driver, Interrupt(), f"k{n}")
    driver.send(SESSION, Interrupt(), KEY, NOW_MS)
    (given_up,) = [what for _, what in driver.take().out]
    assert isinstance(given_up, InputUnanswered)
    assert given_up.key == "k0"
    assert hear(driver, response("fb-kit-1")) == []
    assert hear(driver, response("fb-kit-2")) == [InputConfirmed(key=InputKey("k1"))]


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
        (
            SetFast(on=False),
            {"subtype": "apply_flag_settings", "settings": {"fastMode": False}},
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


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (StopTask(task="b1"), "never says whether it stopped a task"),
        (SetEffort(effort="high"), "only when it starts"),
        (SetFast(on=True), "only in its own terminal"),
        (SetFast(on=False), "only in its own terminal"),
        (CancelQueued(key="test:0"), "takes back nothing"),
        (Mcp(server="s", action="login"), "only in its own terminal"),
    ],
)
def test_what_an_old_version_never_answers_is_not_asked(command: Command, why: str) -> None:
    (said,) = refused(attached("2.1.38"), command)
    assert isinstance(said, InputRejected)
    assert why in said.reason


def test_an_effort_that_does_not_exist_is_refused() -> None:
    assert kinds(refused(attached(), SetEffort(effort="enormous"))) == ["InputRejected"]
    assert kinds(refused(attached(), SetThinking(tokens=10**9))) == ["InputRejected"]


def bypassing(spec: OpenSpec) -> ClaudeDriver:
    driver = attached("2.1.38")
    driver.attach(SESSION, INCARNATION, spec, b"")
    return driver


@pytest.mark.parametrize(
    "more",
    [
        {"mode": "bypassPermissions"},
        {"agent_options": {"allow_bypass": True}},
        {"agent_options": {"skip_permissions": True}},
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


def test_a_session_opened_to_bypass_permissions_may_do_so_again_in_a_later_life() -> None:
    sim, mode = Sim(), "bypassPermissions"
    context = msgspec.structs.replace(sim.context("r0"), kept=SCHEMA.kept_in(mode))
    sim._take(open_session(OpenSpec(agent="claude", cwd="/p", mode=mode), context))
    sim.fact(LinkUp(incarnation=sim.state.incarnation))
    sim.fact(AgentReady(agent_session="a"), TurnBegan(), TurnOver(), ModeChanged(mode="plan"))
    sim.fact(LinkEnded(incarnation=sim.state.incarnation, why="exit"))
    spec = start_spec(sim.fold())  # as the journal alone gives it
    assert (spec.mode, spec.resume) == ("plan", True)
    assert "--allow-dangerously-skip-permissions" in build_args(spec, "2.1.325")
    assert tell(bypassing(spec), SetMode(mode="bypassPermissions"))


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


def test_an_input_that_waits_is_taken_back() -> None:
    driver = attached()
    uuid = say(driver, key="waits")["uuid"]
    (written,) = tell(driver, CancelQueued(key="waits"))
    assert written["request"] == {"subtype": "cancel_async_message", "message_uuid": uuid}
    assert uuid == message_of(SESSION, InputKey("waits"))
    assert hear(driver, response("fb-kit-1", response={"cancelled": True})) == [
        InputRejected(key=InputKey("waits"), reason="cancelled"),
        InputConfirmed(key=KEY),
    ]


def test_an_input_that_has_begun_is_not() -> None:
    driver = attached()
    say(driver, key="waits")
    tell(driver, CancelQueued(key="waits"))
    assert hear(driver, response("fb-kit-1", response={"cancelled": False})) == [
        InputRejected(key=KEY, reason="it is not waiting any more")
    ]


# ---- fast ----------------------------------------------------------------------------------------


def test_fast_is_confirmed_once_the_agent_says_that_it_is() -> None:
    driver = attached()
    (written,) = tell(driver, SetFast(on=True))
    assert written["request"]["settings"] == {"fastMode": True}
    driver.receive([response("fb-kit-1")], NOW_MS)
    output = driver.take()
    assert output.out == []
    (check,) = output.lines
    assert json.loads(check.data)["request"] == {"subtype": "initialize"}
    assert check.key is None  # the input was carried by the line before
    again = attached(memo=driver.memo(SESSION))
    on = response("fb-kit-2", response={"fast_mode_state": "on", "commands": []})
    assert hear(again, on) == [InputConfirmed(key=KEY)]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (
            {"fast_mode_state": "off", "fast_mode_disabled_reason": "free"},
            "fast mode is off: free",
        ),
        ({"fast_mode_state": "off"}, "fast mode is off: not with this model"),
        ({"fast_mode_state": 7}, "fast mode is off: not with this model"),
    ],
)
def test_fast_that_is_not_to_be_had_is_refused_and_left_off(told: dict[str, Any], why: str) -> None:
    driver = attached()
    tell(driver, SetFast(on=True))
    hear(driver, response("fb-kit-1"))
    driver.receive([response("fb-kit-2", response=told)], NOW_MS)
    output = driver.take()
    assert [what for _, what in output.out] == [InputRejected(key=KEY, reason=why)]
    (undo,) = output.lines
    assert json.loads(undo.data)["request"]["settings"] == {"fastMode": False}
    assert hear(driver, response("fb-kit-3")) == []


def test_a_session_opened_fast_is_made_so_and_says_when_it_is_not() -> None:
    driver = attached()
    spec = OpenSpec(agent="claude", cwd="/p", **start_fields(from_legacy(Options(fast=True))))
    driver.attach(SESSION, INCARNATION, spec, b"")
    driver.connected(NOW_MS)
    hello, fast = (json.loads(one.data)["request"] for one in driver.take().lines)
    assert (hello["subtype"], fast["settings"]) == ("initialize", {"fastMode": True})
    hear(driver, response("fb-kit-2"))
    facts = hear(driver, response("fb-kit-3", response={"fast_mode_state": "off"}))
    assert kinds(facts) == ["Notice"]


def test_an_agent_that_denies_what_it_has_just_done_is_survived() -> None:
    unknown = {"subtype": "error", "error": "no", "error_code": "unsupported_request"}
    driver = attached()
    driver.connected(NOW_MS)
    assert kinds([what for _, what in driver.take().out]) == ["AcceptsInput"]
    tell(driver, SetFast(on=True))
    tell(driver, SetFast(on=True), "test:2")
    hear(driver, response("fb-kit-1", **unknown))
    assert hear(driver, response("fb-kit-2")) == [InputConfirmed(key=KEY)]
    assert kinds(hear(driver, response("fb-kit-3", **unknown))) == ["InputRejected"]


# ---- logging in to an MCP server -----------------------------------------------------------------


def logging_in(told: dict[str, Any]) -> list[Out]:
    driver = attached()
    (written,) = tell(driver, Mcp(server="web", action="login"))
    assert written["request"] == {"subtype": "mcp_authenticate", "serverName": "web"}
    return hear(driver, response("fb-kit-1", response=told))


def test_a_person_is_told_where_to_log_in() -> None:
    url = "https://login.example/authorize?state=x"
    assert logging_in({"authUrl": url, "requiresUserAction": True}) == [
        Notice(text=f"log in to web: {url}"),
        InputConfirmed(key=KEY),
    ]
    (notice, _) = logging_in({"authUrl": url, "callbackPort": 7})
    assert notice == Notice(text=f"log in to web on the machine the agent runs on: {url}")


def test_a_server_that_needs_nobody_is_just_logged_in_to() -> None:
    assert logging_in({"requiresUserAction": False}) == [InputConfirmed(key=KEY)]


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://a b",
        "https://a\x1b[2J",
        "https://ex\u0430mple.com",
        "https://" + "a" * MAX_URL,
    ],
)
def test_nobody_is_sent_to_what_is_no_plain_address(url: str) -> None:
    assert logging_in({"authUrl": url}) == [
        InputRejected(key=KEY, reason="the agent names no address to log in at")
    ]


# ---- what has no answer --------------------------------------------------------------------------


def passed(driver: ClaudeDriver, now_ms: int) -> list[Out]:
    driver.tick(now_ms)
    return [what for _, what in driver.take().out]


def test_a_setting_without_an_answer_ends_and_a_late_one_is_still_heard() -> None:
    driver = attached()
    assert driver.deadline_ms is None
    tell(driver, SetModel(model="opus"))
    assert driver.deadline_ms == 0
    assert passed(driver, NOW_MS) == []
    assert driver.deadline_ms == NOW_MS + WITHIN_MS
    assert passed(driver, NOW_MS + WITHIN_MS - 1) == []
    given_up = InputUnanswered(key=KEY, reason="no answer in 60 s")
    assert passed(driver, NOW_MS + WITHIN_MS) == [given_up]
    assert driver.deadline_ms is None
    assert hear(driver, response("fb-kit-1")) == [ModelChanged(model="opus")]
    assert hear(driver, response("fb-kit-1")) == []


def test_a_server_may_take_longer_to_connect() -> None:
    driver = attached()
    tell(driver, Mcp(server="s", action="reconnect"))
    passed(driver, NOW_MS)
    assert driver.deadline_ms == NOW_MS + CONNECT_MS


def test_an_agent_that_never_says_hello_is_a_warning_once() -> None:
    driver = attached()
    driver.connected(NOW_MS)
    driver.take()
    passed(driver, NOW_MS)
    (said,) = passed(driver, NOW_MS + WITHIN_MS)
    assert isinstance(said, Notice)
    assert said.level == "warning"
    assert said.text.startswith("initialize: no answer in 60 s")
    assert passed(driver, NOW_MS + 10 * WITHIN_MS) == []
    assert kinds(hear(driver, response("fb-kit-1", response={}))) == ["AgentReady"]


def test_after_a_restart_what_was_asked_gets_its_time_anew() -> None:
    driver = attached()
    tell(driver, SetMode(mode="plan"))
    passed(driver, NOW_MS)
    again = attached(memo=driver.memo(SESSION))
    assert again.deadline_ms == 0
    later = NOW_MS + 10 * WITHIN_MS
    assert passed(again, later) == []
    assert kinds(passed(again, later + WITHIN_MS)) == ["InputUnanswered"]
    once_more = attached(memo=again.memo(SESSION))
    assert once_more.deadline_ms is None


def test_nothing_is_waited_for_once_the_agent_is_gone() -> None:
    driver = attached()
    tell(driver, SetMode(mode="plan"))
    driver.lost(LinkEnd(why="exit"), NOW_MS)
    assert driver.deadline_ms is None
    assert passed(driver, NOW_MS + 10 * WITHIN_MS) == []


def test_what_the_agent_does_not_know_is_not_asked_again_in_its_life() -> None:
    driver = attached()
    tell(driver, StopTask(task="b1"))
    error = {"subtype": "error", "error": "Unsupported", "error_code": "unsupported_request"}
    (said,) = hear(driver, response("fb-kit-1", **error))
    assert said == InputRejected(key=KEY, reason="this version does not know stop_task")
    again = attached(memo=driver.memo(SESSION))
    assert refused(again, StopTask(task="b2")) == [said]
    assert tell(again, Interrupt())


# ---- what it says of itself ----------------------------------------------------------------------


def test_what_initialize_and_init_tell_can_be_laid_over_each_other() -> None:
    driver = attached()
    driver.connected(NOW_MS)
    driver.take()
    commands = [{"name": "sail", "description": "away", "argumentHint": "[where]"}]
    agents = [{"name": "Plan", "description": "plans"}]
    answer = {"commands": commands, "agents": agents, "capabilities": ["a"], "models": []}
    first = only(hear(driver, response("fb-kit-1", response=answer)), AgentReady)
    told = init(agents=["Plan"], capabilities=["b"], tools=["Bash"])
    second = only(hear(driver, told), AgentReady)
    assert first.detail is not UNSET
    assert second.detail is not UNSET
    both = json.loads(bytes(first.detail)) | json.loads(bytes(second.detail))
    assert (both["commands"], both["models"], both["tools"]) == (commands, [], ["Bash"])
    assert (both["agents"], both["capabilities"]) == (["Plan"], ["b"])
    assert both["initialize"] == {"agents": agents, "capabilities": ["a"]}
