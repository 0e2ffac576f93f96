"""The adapter as a whole: the handshake, what is asked for, and nothing but messages out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.frontends.ipc.steps import Act, Show, Start, Stop, Switch
from flybridge.frontends.ipc.wire.lines import read_outbound
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.model.ids import PromptId
from tests.unit.frontends.ipc.session_kit import Kit, raw, types


@pytest.mark.conforms("ipc: init")
def test_the_handshake_is_answered_at_once() -> None:
    kit = Kit(live=False)
    assert kit.say({"type": "protocol_init", "version": 1}) == [Start()]
    assert kit.lines() == [
        {"type": "protocol_ack", "ipc_version": 2, "version": 1, "session_id": "pending"}
    ]
    assert kit.adapter.opened("conv-7") == []
    assert [one["session_id"] for one in kit.lines()] == ["conv-7"]


def test_the_wanted_mode_is_set_once_the_session_is_there() -> None:
    given = Kit(mode="plan")
    (act,) = given.adapter.opened("")
    assert isinstance(act, Act)
    assert (act.command, act.setting, act.quiet) == (c.SetMode(mode="plan"), True, False)
    (act,) = Kit(mode="acceptEdits", mode_given=False).adapter.opened("")
    assert isinstance(act, Act)
    assert act.quiet


@pytest.mark.conforms("ipc: wrong version")
def test_another_version_is_refused_for_good() -> None:
    kit = Kit(live=False)
    assert kit.say({"type": "protocol_init", "version": 2}) == [Stop(1)]
    (error,) = kit.lines()
    assert (error["recoverable"], error["message"]) == (False, "Unsupported protocol version: 2")


@pytest.mark.conforms("ipc: bad input")
def test_nothing_is_done_before_the_handshake() -> None:
    kit = Kit(live=False)
    assert kit.say({"type": "user_message", "text": "early"}, {"type": "interrupt"}) == []
    assert types(kit.lines()) == ["error", "error"]


def test_a_second_handshake_is_refused() -> None:
    kit = Kit()
    assert kit.say({"type": "protocol_init", "version": 1}) == []
    assert types(kit.lines()) == ["error"]


def test_messages_are_submitted_under_their_own_id() -> None:
    kit = Kit()
    (act,) = kit.say({"type": "user_message", "text": "hello", "attachments": []})
    assert isinstance(act, Act)
    assert isinstance(act.command, c.SendInput)
    assert act.request in kit.adapter.events.pending


@pytest.mark.conforms("ipc: mode change", "ipc: model change", "ipc: inbound routing")
def test_settings_and_session_commands_become_steps() -> None:
    kit = Kit()
    steps = kit.say(
        {"type": "permission_mode", "mode": "dontAsk"},
        {"type": "model_change", "model": "opus"},
        {"type": "session_command", "command": "fork"},
        {"type": "stop_task", "task_id": "t"},
        {"type": "view", "name": "cost"},
    )
    mode, model, switch, stop, show = steps
    assert isinstance(mode, Act)
    assert isinstance(model, Act)
    assert isinstance(stop, Act)
    assert (mode.command, mode.setting) == (c.SetMode(mode="dontAsk"), True)
    assert (model.command, model.setting) == (c.SetModel(model="opus"), True)
    assert switch == Switch("fork")
    assert (stop.command, stop.patience_ms) == (c.StopTask(task="t"), 2000)
    assert show == Show("cost")
    assert kit.adapter.model == "opus"  # and stays so in a new session


@pytest.mark.conforms("ipc: interrupt")
def test_an_interrupt_is_a_command_and_no_signal() -> None:
    (act,) = Kit().say({"type": "interrupt"})
    assert isinstance(act, Act)
    assert act.command == c.Interrupt()


def test_an_unknown_mode_or_view_changes_nothing() -> None:
    kit = Kit()
    assert kit.say({"type": "permission_mode", "mode": "sing"}, {"type": "view", "name": "x"}) == []
    assert types(kit.lines()) == ["error", "error"]


@pytest.mark.conforms("ipc: unknown request")
def test_an_answer_nobody_asked_for_is_a_warning_only() -> None:
    kit = Kit()
    assert kit.say({"type": "tool_approval", "request_id": "r", "decision": "allow"}) == []
    assert kit.lines() == []
    assert any("'r'" in line for line in kit.adapter.take_warnings())


def test_a_refused_command_is_an_error_and_closes_its_message() -> None:
    kit = Kit()
    (act,) = kit.say({"type": "user_message", "text": "hello"})
    assert isinstance(act, Act)
    kit.adapter.refused(act, "too busy")
    error, over = kit.lines()
    assert (error["message"], over["type"], over["result"]) == (
        "too busy",
        "turn_complete",
        "error",
    )
    assert not kit.adapter.busy


def test_a_task_that_nobody_stops_is_said_so() -> None:
    kit = Kit()
    (act,) = kit.say({"type": "stop_task", "task_id": "t"})
    assert isinstance(act, Act)
    kit.adapter.unanswered(act)
    (error,) = kit.lines()
    assert error["recoverable"] is True
    assert "did not answer" in error["message"]


def test_a_half_line_at_the_end_of_the_input_is_none() -> None:
    kit = Kit()
    assert kit.adapter.receive(b'{"type":"interr') == []
    assert kit.adapter.ended() == [Stop(0)]
    assert types(kit.lines()) == ["error"]


def test_characters_that_are_split_over_reads_survive() -> None:
    kit = Kit()
    data = (
        json.dumps({"type": "user_message", "text": "⚓ øl"}, ensure_ascii=False).encode() + b"\n"
    )
    steps = [step for byte in data for step in kit.adapter.receive(bytes([byte]))]
    (act,) = steps
    assert isinstance(act, Act)
    assert isinstance(act.command, c.SendInput)
    assert "⚓ øl" in str(act.command.content)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.binary(max_size=80), max_size=8))
def test_whatever_comes_in_only_messages_go_out(chunks: list[bytes]) -> None:
    kit = Kit()
    for chunk in chunks:
        kit.adapter.receive(chunk + b"\n")
    for line in kit.adapter.take().splitlines():
        read_outbound(line)


def test_prompts_that_are_open_already_are_forwarded_when_we_join() -> None:
    kit = Kit()
    asked = ev.PermissionRequested(prompt=PromptId("p"), tool="Bash", input=raw({}), digest="d")
    kit.adapter.remember(asked)
    assert kit.lines() == []
    kit.adapter.joined()
    assert [one["request_id"] for one in kit.lines()] == ["p"]


@pytest.mark.parametrize(
    ("command", "name"),
    [("new", "pending"), ("fork", "pending-fork"), ("continue", "pending-continue")],
)
def test_d02_every_session_command_is_acknowledged_by_a_session_init(
    command: str, name: str
) -> None:
    kit = Kit()
    for _ in range(3):
        kit.adapter.opened("", to=command)
        assert [(one["type"], one["session_id"]) for one in kit.lines()] == [("session_init", name)]
    kit.adapter.opened(name)  # the agent was started again: the front end asked for nothing
    assert kit.lines() == []


def test_d07_leaving_closes_every_message_and_prompt() -> None:
    kit = Kit()
    kit.begin(kit.message())
    kit.say({"type": "user_message", "text": "on its way"})
    assert kit.adapter.unfinished
    prompt = PromptId("p1")
    kit.apply(ev.PermissionRequested(prompt=prompt, tool="Bash", input=raw({}), digest="d"))
    assert not kit.adapter.unfinished  # nobody is left who could answer
    kit.lines()
    kit.adapter.leave()
    assert types(kit.lines()) == ["control_request_cancel", "turn_complete", "turn_complete"]
    kit.adapter.leave()
    assert kit.lines() == []
    assert not kit.adapter.unfinished
