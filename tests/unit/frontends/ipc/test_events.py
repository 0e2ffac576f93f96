"""Messages and turns find each other, and an agent's end is told of once."""

from __future__ import annotations

import pytest

from flybridge.frontends.ipc.steps import Act
from flybridge.model import commands as c
from flybridge.model import events as ev
from flybridge.model.ids import IncarnationId, InputKey, ItemId, TurnId
from tests.unit.frontends.ipc.session_kit import Kit, ready, types

LIFE = IncarnationId("inc")
KILLED = ev.AgentExited(incarnation=LIFE, why="exit", status=-9)


def died(kit: Kit, turn: TurnId) -> None:
    kit.apply(ev.TurnEnded(turn=turn, reason="agent_exited"), KILLED)


@pytest.mark.conforms("ipc: dead agent")
def test_an_agent_that_dies_in_a_turn_is_one_error_and_the_end_of_the_turn() -> None:
    kit = Kit()
    key = kit.message()
    turn = kit.begin(key)
    kit.text("t", ["half"])
    kit.lines()
    died(kit, turn)
    kit.apply(ev.InputOutcome(key=key, outcome="observed"))
    lines = kit.lines()
    assert types(lines) == ["error", "assistant_text", "turn_complete"]
    assert (lines[0]["recoverable"], lines[2]["result"]) == (True, "error")


def test_an_agent_that_dies_after_an_interrupt_cancels_the_turn() -> None:
    kit = Kit()
    turn = kit.begin(kit.message())
    kit.text("t", ["half"])
    kit.say({"type": "interrupt"})
    kit.lines()
    died(kit, turn)
    (line,) = kit.lines()
    assert (line["type"], line["seq"], line["partial_result"]) == ("turn_cancelled", 0, "half")


def test_d10_a_death_after_an_interrupt_is_no_error_before_the_turn_began_either() -> None:
    kit = Kit()
    key = kit.message()
    kit.say({"type": "interrupt"})
    kit.apply(ev.InputOutcome(key=key, outcome="lost", reason="exit"), KILLED)
    (line,) = kit.lines()
    assert (line["type"], line["seq"]) == ("turn_cancelled", 0)
    assert not kit.adapter.busy
    # what happens after that is an accident again
    kit.apply(ev.AgentStarted(incarnation=LIFE), ev.AgentConnected(incarnation=LIFE))
    turn = kit.begin(kit.message())
    kit.lines()
    died(kit, turn)
    assert types(kit.lines()) == ["error", "turn_complete"]


def test_d05_an_interrupt_right_behind_its_message_is_no_error() -> None:
    kit = Kit()
    key = kit.message()
    kit.say({"type": "interrupt"})
    turn = kit.begin(key)
    kit.end(turn, key, reason="error", result={"subtype": "error_during_execution"})
    lines = kit.lines()
    assert types(lines) == ["session_init", "system_metadata", "cost_update", "turn_complete"]
    assert lines[-1]["result"] == "error"
    turn = kit.begin(key := kit.message())
    kit.end(turn, key, reason="error")
    assert "error" in types(kit.lines())  # nobody stopped this one


def test_d05_a_message_that_an_interrupt_takes_back_is_closed_without_an_error() -> None:
    kit = Kit()
    key = kit.message()
    kit.say({"type": "interrupt"})
    kit.apply(ev.InputOutcome(key=key, outcome="cancelled"))
    (line,) = kit.lines()
    assert (line["type"], line["result"]) == ("turn_complete", "error")
    key = kit.message()
    kit.apply(ev.InputOutcome(key=key, outcome="cancelled"))
    assert types(kit.lines()) == ["error", "turn_complete"]  # somebody else took it back
    turn = kit.begin(key := kit.message())
    kit.end(turn, key, reason="error")
    assert "error" in types(kit.lines())


def test_d07_a_message_of_a_session_that_is_left_is_closed() -> None:
    kit = Kit()
    kit.message()
    kit.adapter.opened("", to="new")
    assert types(kit.lines()) == ["turn_complete", "session_init"]
    assert not kit.adapter.busy


def test_an_agent_that_dies_idle_or_cannot_start_is_one_error() -> None:
    kit = Kit()
    kit.apply(KILLED)
    (error,) = kit.lines()
    assert "signal 9" in error["message"]
    kit.apply(ev.AgentStarted(incarnation=LIFE))
    kit.apply(ev.AgentExited(incarnation=LIFE, why="not_started", stderr_tail="no such program"))
    (error,) = kit.lines()
    assert "no such program" in error["message"]


def test_a01_alarm_is_an_error_that_the_front_end_survives() -> None:
    kit = Kit()
    kit.begin(kit.message())
    kit.lines()
    kit.apply(ev.AlarmRaised(code="c", text="It ran.", advice="Stop it."))
    (error,) = kit.lines()
    assert error["type"] == "error"
    assert error["message"] == "Alarm: It ran. Stop it."
    assert error["recoverable"] is True


def test_an_agent_that_was_told_to_end_is_no_news() -> None:
    kit = Kit()
    kit.apply(ev.AgentExited(incarnation=LIFE, why="exit", asked=True))
    assert kit.lines() == []


@pytest.mark.conforms("ipc: message during a turn")
def test_a_message_that_a_turn_takes_too_has_its_own_end() -> None:
    kit = Kit()
    first, second = kit.message("one"), kit.message("two")
    turn = kit.begin(first)
    kit.text("t", ["Both."])
    kit.apply(ev.InputConsumed(key=second, turn=turn))
    kit.end(turn, first)
    kit.apply(ev.InputOutcome(key=second, outcome="done"))
    over = [one for one in kit.lines() if one["type"] == "turn_complete"]
    assert [one.get("merged_into") for one in over] == [None, over[0]["msg_id"]]
    assert [one["seq"] for one in over] == [3, 4]
    assert not kit.adapter.busy


def test_a_message_that_waits_is_the_next_turn() -> None:
    kit = Kit()
    first, second = kit.message("one"), kit.message("two")
    for key, words in ((first, "One."), (second, "Two.")):
        turn = kit.begin(key)
        kit.text(f"t-{key}", [words])
        kit.end(turn, key)
    said = {
        one["msg_id"]: one["text"]
        for one in kit.lines()
        if one["type"] == "assistant_text" and not one["is_partial"]
    }
    assert said == {first.rpartition(":")[2]: "One.", second.rpartition(":")[2]: "Two."}


def test_a_turn_of_somebody_elses_is_not_our_messages() -> None:
    kit = Kit()
    mine = kit.message()
    turn = kit.begin()
    kit.apply(ev.InputConsumed(key=InputKey("else:1"), turn=turn))
    kit.end(turn)
    assert kit.lines()[-1]["msg_id"] != mine.rpartition(":")[2]
    turn = kit.begin(mine)
    kit.end(turn, mine)
    assert kit.lines()[-1]["msg_id"] == mine.rpartition(":")[2]


def test_a_message_that_never_ran_is_an_error_and_closed() -> None:
    kit = Kit()
    key = kit.message()
    kit.apply(ev.InputOutcome(key=key, outcome="expired"))
    lines = kit.lines()
    assert types(lines) == ["error", "turn_complete"]
    assert lines[1]["result"] == "error"


@pytest.mark.conforms("ipc: lost session")
def test_a_lost_conversation_is_said_once_and_the_message_is_sent_again() -> None:
    kit = Kit()
    key = kit.message("hello")
    kit.apply(ev.Error(code="agent", text="No conversation found"))
    steps = kit.apply(
        ev.ConversationLost(reason="No conversation found"),
        ev.InputOutcome(key=key, outcome="lost"),
        ev.AgentExited(incarnation=LIFE, why="exit", status=1),
    )
    assert types(kit.lines()) == ["error"]
    (act,) = steps
    assert isinstance(act, Act)
    assert isinstance(act.command, c.SendInput)
    again = InputKey(f"uid:1:{act.request}")
    turn = kit.begin(again)
    kit.end(turn, again)
    assert kit.lines()[-1]["msg_id"] == key.rpartition(":")[2]


def test_what_was_said_before_is_not_said_again() -> None:
    kit = Kit()
    kit.apply(ev.History(phase="started"), ev.TurnStarted(turn=TurnId("trn_1")))
    kit.text("old", ["Old."])
    kit.apply(ev.TurnEnded(turn=TurnId("trn_1")), ev.History(phase="done"))
    assert kit.lines() == []
    assert kit.adapter.events.spoke


def test_the_real_id_is_announced_when_it_is_known_and_when_it_changes() -> None:
    kit = Kit()
    kit.apply(ready("conv-1"), ready("conv-1"), ready("conv-2"))
    assert [one["session_id"] for one in kit.lines()] == ["conv-1", "conv-2"]


@pytest.mark.conforms("ipc: fork", "ipc: continue", "ipc: new session")
def test_a_switch_closes_what_was_open_and_keeps_counting() -> None:
    kit = Kit()
    key = kit.message()
    kit.begin(key)
    kit.lines()
    for to, pending in (
        ("fork", "pending-fork"),
        ("continue", "pending-continue"),
        ("new", "pending"),
    ):
        kit.adapter.opened("conv-1", to=to)
        assert kit.lines()[-1]["session_id"] == pending
    kit.message()
    assert [one.seq for one in kit.adapter.events.pending.values()] == [2]


@pytest.mark.conforms("ipc: mode change")
def test_a_setting_that_was_refused_is_an_error() -> None:
    kit = Kit()
    (act,) = kit.say({"type": "permission_mode", "mode": "bypassPermissions"})
    assert isinstance(act, Act)
    key = InputKey(f"uid:1:{act.request}")
    kit.apply(ev.InputOutcome(key=key, outcome="refused", reason="not enabled"))
    (error,) = kit.lines()
    assert (error["recoverable"], error["message"]) == (
        True,
        "The permission mode bypassPermissions: not enabled",
    )


@pytest.mark.conforms("ipc: compact boundary")
def test_a_compaction_is_a_boundary() -> None:
    kit = Kit()
    kit.apply(ev.ContextCompacted(phase="started"), ev.ContextCompacted(phase="done"))
    assert types(kit.lines()) == ["compact_boundary"]


def test_a_turn_that_ran_before_we_came_is_taken_part_in() -> None:
    kit = Kit()
    kit.adapter.remember(ready())
    kit.adapter.remember(ev.TurnStarted(turn=TurnId("trn_1")))
    kit.adapter.joined()
    kit.text("t", ["x"])
    kit.apply(ev.ToolResult(item=ItemId("a"), text="y"))
    assert types(kit.lines()) == ["system_metadata", "assistant_text", "tool_result"]
