"""A session's log as a slot shows it: one test for each line of the mapping."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET, Raw

from flybridge.frontends.companion.slot import Slot
from flybridge.frontends.companion.wire.messages import AgentStatus
from flybridge.model import events as e
from flybridge.model.ids import ItemId, PromptId, SessionId
from flybridge.session.idling import PUT_AWAY
from tests.unit.frontends.companion.logs import (
    LIFE,
    asks,
    board_with,
    closed,
    connected,
    ended,
    exited,
    outcome,
    raw,
    said,
    turn,
)


def status(*events: e.Event) -> AgentStatus:
    return board_with(*events)[1].face().status


def seen(*events: e.Event) -> tuple[str, str]:
    found = status(*events)
    return found.state, found.message


def test_a_process_is_idle_and_active_without_waiting_for_it_to_speak() -> None:
    found = status()
    assert (found.state, found.active, found.progress) == ("idle", True, -1)
    assert found.prompt_tool_type is UNSET


def test_a_prompt_is_processed_at_once() -> None:
    assert seen(said()) == ("working", "Processing prompt…")


def test_what_the_agent_does_is_told() -> None:
    begun = (said(), turn())
    text = e.TextDone(item=ItemId("t"), text="Hello\n")
    tool = e.ToolStarted(item=ItemId("c"), name="Bash")
    assert seen(*begun) == ("working", "Processing prompt…")
    assert seen(*begun, text) == ("working", "Hello")
    assert seen(*begun, tool) == ("working", "Running: Bash")
    assert seen(*begun, e.Retry(attempt=2, reason="overloaded")) == (
        "working",
        "Retry 2: overloaded",
    )


def test_a_tool_that_takes_long_says_how_long() -> None:
    _, slot = board_with(said(), turn(), e.ToolStarted(item=ItemId("c"), name="Bash"))
    slot.gauge("tool_seconds", raw({"item": "c", "seconds": 12.7}))
    assert slot.face().status.message == "Running: Bash (12s)"
    slot.apply(e.ToolResult(item=ItemId("c")))
    slot.gauge("tool_seconds", raw({"item": "c", "seconds": 13}))
    assert slot.face().status.message == "Running: tool (13s)"


def test_how_full_the_context_is_counts_against_200_000_until_something_else_is_said() -> None:
    _, slot = board_with(said(), turn())
    slot.gauge("context", raw({"tokens": 50_000, "window": 0}))
    assert slot.face().status.context_percent == 25
    slot.apply(ended(gauges={"context": raw({"tokens": 50_000, "window": 1_000_000})}))
    assert slot.face().status.context_percent == 5
    slot.gauge("context", raw({"tokens": 5_000_000, "window": 1_000_000}))
    assert slot.face().status.context_percent == 100
    slot.gauge("context", raw({"tokens": None}))
    assert slot.face().status.context_percent == 100
    for odd in (Raw(b"{"), raw([]), raw({"tokens": "x"}), raw({"item": 1})):
        slot.gauge("context", odd)
        slot.gauge("tool_seconds", odd)
        slot.gauge("usage", odd)


def test_compacting_is_shown_until_it_ends() -> None:
    begun = (said(), turn(), e.ContextCompacted(phase="started"))
    assert seen(*begun) == ("working", "Compacting context…")
    assert seen(*begun, e.ModeChanged(mode="plan")) == ("working", "Compacting context…")
    assert seen(*begun, e.ContextCompacted(phase="done"))[1] != "Compacting context…"
    assert seen(*begun, e.ContextCompacted(phase="failed"))[1] != "Compacting context…"
    assert seen(*begun, ended(), outcome()) == ("idle", "")


def test_a_permission_waits_with_tool_detail_and_description() -> None:
    found = status(said(), turn(), asks(command="rm x", description="why"))
    assert (found.state, found.prompt_tool_type, found.prompt_tool_detail) == (
        "waiting",
        "Bash",
        "rm x",
    )
    assert (found.prompt_description, found.message) == ("why", "Bash: rm x")


def test_a_prompt_sent_meanwhile_leaves_it_waiting() -> None:
    assert seen(said(), turn(), asks(), said("k2"))[0] == "waiting"


def test_the_oldest_of_several_permissions_is_shown_and_then_the_next() -> None:
    _, slot = board_with(said(), turn(), asks("prm_1", command="one"), asks("prm_2", command="two"))
    assert slot.face().status.prompt_tool_detail == "one"
    slot.apply(closed("prm_1"))
    assert slot.face().status.prompt_tool_detail == "two"
    slot.apply(closed("prm_2"))
    assert slot.face().status.state == "working"
    assert slot.face().status.prompt_tool_detail is UNSET


def test_a_question_waits_and_says_that_it_is_answered_elsewhere() -> None:
    asked = e.QuestionRequested(
        prompt=PromptId("q"), questions=raw([{"question": "Which?"}]), digest="d"
    )
    _, slot = board_with(said(), turn(), asked)
    found = slot.face().status
    assert (found.state, found.prompt_tool_type) == ("waiting", "Question")
    assert "not here" in str(found.prompt_tool_detail)
    slot.apply(e.QuestionClosed(prompt=PromptId("q"), how="answered"))
    assert slot.face().status.state == "working"


@pytest.mark.parametrize("reason", ["done", "limit", "interrupted"])
def test_a_turn_that_ends_is_idle(reason: Any) -> None:
    assert seen(said(), turn(), ended(reason=reason), outcome()) == ("idle", "")


def test_a_turn_that_fails_is_an_error_with_its_text() -> None:
    found = status(said(), turn(), ended(reason="error", message="broken"), outcome())
    assert (found.state, found.prompt_tool_type, found.prompt_tool_detail) == (
        "error",
        "Error",
        "broken",
    )


@pytest.mark.parametrize(
    "trouble",
    [
        e.Error(code="rate_limit", text="the agent could not log in: slow down"),
        e.Notice(text="the agent could not log in: slow down", level="warning"),
    ],
)
def test_an_error_is_kept_until_the_next_prompt(trouble: e.Event) -> None:
    failed = (said(), turn(), trouble, ended(reason="error"), outcome())
    assert seen(*failed) == ("error", "the agent could not log in: slow down")
    assert seen(*failed, turn(), ended()) == ("error", "the agent could not log in: slow down")
    assert seen(*failed, said("k2")) == ("working", "Processing prompt…")
    assert seen(*failed, e.Notice(text="other", level="warning"))[0] == "error"


def test_a_prompt_that_came_while_another_failed_clears_the_error_when_its_turn_begins() -> None:
    late = (said(), turn(), e.Error(code="x", text="no"), said("k2"), ended(reason="error"))
    assert seen(*late)[0] == "error"
    assert seen(*late, outcome(), turn("trn_2")) == ("working", "Processing prompt…")


def test_an_interrupt_is_told_until_the_turn_is_over() -> None:
    begun = (said(), turn(), said("i", "interrupt"))
    assert seen(*begun) == ("working", "Interrupting…")
    assert seen(*begun, ended(reason="interrupted"), outcome()) == ("idle", "")
    assert seen(said("i", "interrupt")) == ("idle", "")


def test_a_message_that_comes_to_nothing_leaves_it_idle() -> None:
    assert seen(said(), outcome(how="cancelled")) == ("idle", "")
    assert seen(said(), said("k2"), turn(), ended(), outcome()) == ("working", "Processing prompt…")


def test_an_exit_is_done_and_removes_prompts_and_their_fields() -> None:
    _, slot = board_with(said(), turn(), asks(), exited(status=3))
    found = slot.face().status
    assert (found.state, found.active, found.prompt_tool_type) == ("done", False, UNSET)
    assert slot.ended
    slot.apply(e.Error(code="late", text="late"))
    assert slot.face().status.state == "done"


def test_an_agent_that_was_only_put_away_leaves_its_slot_idle() -> None:
    resting = (e.Notice(text=f"{PUT_AWAY} (idle)"), exited(asked=True))
    _, slot = board_with(*resting)
    assert (slot.face().status.state, slot.active, slot.ended) == ("idle", True, False)
    for event in (said(), connected()):
        slot.apply(event)
    assert slot.face().status.message == "Processing prompt…"
    slot.apply(exited(asked=True))
    assert slot.ended


def test_an_adopted_agent_goes_on_as_it_was() -> None:
    adopted = e.AgentConnected(incarnation=LIFE, adopted=True)
    assert seen(said(), turn(), asks(), adopted)[0] == "waiting"


def test_what_was_said_before_the_session_does_not_count() -> None:
    past = (e.History(phase="started"), said(), e.Error(code="x", text="old"))
    assert seen(*past, e.History(phase="done")) == ("idle", "")


def test_nothing_is_held_unless_a_device_said_so() -> None:
    _, slot = board_with(said(), turn(), asks(), asks("prm_2", tool="Write", file_path="/a"))
    assert slot.held == set()


def test_what_a_device_allowed_for_later_is_held_back_until_it_is_decided() -> None:
    slot = Slot(0, "claude", SessionId("s"), "/project")
    slot.auto_edit, slot.rules = "box", {"WebFetch": "box"}
    for event in (
        connected(),
        said(),
        turn(),
        asks("prm_1", tool="Write", file_path="/project/a"),
        asks("prm_2", tool="WebFetch", url="u"),
        asks("prm_3", tool="Bash", command="c"),
    ):
        slot.apply(event)
    assert slot.held == {"prm_1", "prm_2"}
    assert slot.face().status.prompt_tool_detail == "c"
    assert slot.face().status.auto_edit is True
    slot.reveal(PromptId("prm_1"))
    assert slot.face().status.prompt_tool_detail == "/project/a"
    slot.apply(closed("prm_2"))
    assert slot.held == set()
