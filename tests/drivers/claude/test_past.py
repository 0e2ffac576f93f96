from __future__ import annotations

import pytest

from flybridge.drivers.claude import history as h
from flybridge.drivers.claude.past import to_events, to_timed
from flybridge.model import events as ev
from flybridge.model.content import Text
from flybridge.model.ids import SessionId
from flybridge.session.evolve import evolve
from flybridge.session.state import State
from tests.drivers.claude.written import GOLDEN, Writer, golden, talk


def told(writer: Writer) -> list[ev.Event]:
    return to_events(h.read(writer.lines))


def tags(events: list[ev.Event]) -> list[str]:
    return [str(type(event).__struct_config__.tag) for event in events]


def test_a_talk_in_our_words() -> None:
    events = told(talk())
    prompt = ["input.accepted", "turn.started", "input.consumed"]
    text = ["item.started", "text.done"]
    end = ["input.outcome", "turn.ended"]
    tool = ["item.started", "tool.started", "tool.result"]
    assert tags(events) == [*prompt, *text, *tool, *text, *end, *prompt, *text, *end]
    assert isinstance(events[0], ev.InputAccepted)
    assert events[0].content == (Text("look around"),)
    started = next(one for one in events if isinstance(one, ev.ToolStarted))
    assert (started.item, started.name) == ("toolu_1", "Bash")
    assert [one.reason for one in events if isinstance(one, ev.TurnEnded)] == ["done", "done"]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: str(path.stem))
def test_the_fold_of_any_past_leaves_nothing_open(path: object) -> None:
    state = State(SessionId("s"))
    for seq, (at_ms, event) in enumerate(to_timed(h.read(golden(path.stem))), 1):  # type: ignore[attr-defined]
        evolve(state, event, seq, at_ms)
    assert (state.items, state.inputs, state.prompts, state.turn) == ({}, {}, {}, "")
    assert state.waiting_for == ""


def test_names_of_items_and_inputs_are_never_used_twice() -> None:
    writer = Writer()
    for _ in range(3):
        writer.put("user", message={"content": "again"}, uuid=f"x{len(writer.lines)}")
        writer.call("same")
        writer.result("same")
    opened = [one.item for one in told(writer) if isinstance(one, ev.ItemStarted)]
    assert opened == ["same", "same~2", "same~3"]


def test_a_call_that_has_no_result_ends_with_the_agent() -> None:
    writer = talk()
    writer.prompt("go")
    writer.call("t9")
    *_, result, outcome, ended = told(writer)
    assert isinstance(result, ev.ToolResult)
    assert (result.item, result.status) == ("t9", "partial")
    assert isinstance(outcome, ev.InputOutcome)
    assert outcome.outcome == "observed"
    assert isinstance(ended, ev.TurnEnded)
    assert ended.reason == "agent_exited"


def test_a_prompt_nobody_answered_ends_with_the_agent_too() -> None:
    writer = talk()
    writer.prompt("are you there")
    ended = told(writer)[-1]
    assert isinstance(ended, ev.TurnEnded)
    assert ended.reason == "agent_exited"


def test_interrupts_and_errors_end_a_turn_as_what_they_are() -> None:
    steered = to_events(h.read(golden("2.1.325-steered")))
    ends = [one.reason for one in steered if isinstance(one, ev.TurnEnded)]
    assert ends == ["done", "interrupted"]
    accepted = [one.content for one in steered if isinstance(one, ev.InputAccepted)]
    assert (Text("steering words"),) in accepted
    writer = talk()
    writer.prompt("go")
    writer.say("API Error: 500", isApiErrorMessage=True)
    error, _, ended = told(writer)[-3:]
    assert error == ev.Error(code="api", text="API Error: 500")
    assert isinstance(ended, ev.TurnEnded)
    assert ended.reason == "error"


def test_turns_nobody_asked_for_and_compactions_are_there() -> None:
    events = to_events(h.read(golden("2.1.325-subagent")))
    assert len([one for one in events if isinstance(one, ev.TurnStarted)]) == 2
    assert len([one for one in events if isinstance(one, ev.InputAccepted)]) == 1
    assert ev.ContextCompacted() in to_events(h.read(golden("2.1.38-tools")))


def test_a_conversation_that_begins_in_the_middle_still_has_turns() -> None:
    writer = Writer()
    writer.say("and so on")
    writer.result("lost", "x")
    events = told(writer)
    assert tags(events)[0] == "turn.started"
    assert tags(events)[-1] == "turn.ended"


def test_of_a_long_past_the_newest_turns_are_told() -> None:
    writer = Writer()
    for number in range(50):
        writer.prompt(f"p{number}")
        writer.say("aye")
    events = to_events(h.read(writer.lines), max_events=70)
    assert events[0] == ev.Notice(text="40 earlier turns are not shown here")
    assert len(events) == 71
    assert isinstance(events[1], ev.InputAccepted)
    assert events[1].content == (Text("p40"),)


def test_everything_has_its_time() -> None:
    times = [at_ms for at_ms, _ in to_timed(h.read(talk().lines))]
    assert times == sorted(times)
    assert times[0] == 1767225601000
    assert to_events(h.read([])) == []
