from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.agents.claude.transcripts import conversation as h
from flybridge.agents.claude.transcripts.past import LONG_CHARS, MAX_EVENTS, to_past
from flybridge.agents.history import ConversationText, Piece, PieceKind, Summary
from flybridge.model import events as ev
from flybridge.model.content import Text
from flybridge.model.ids import SessionId
from flybridge.session.evolve import evolve
from flybridge.session.ports import BLOB_BYTES, Past
from flybridge.session.state import State
from tests.harness.claude_transcripts import GOLDEN, SESSION, Writer, golden, talk

pieces = st.builds(
    Piece,
    kind=st.sampled_from(list(PieceKind.__args__)),  # type: ignore[attr-defined]
    text=st.sampled_from(["", "aye", "x" * 300, "é" * 200]),
    uuid=st.sampled_from(["u1", "u2", "u3"]),
    tool=st.sampled_from(["", "t1", "t2"]),
    at_ms=st.integers(0, 3),
)


def past(lines: Sequence[bytes], **more: Any) -> Past:
    return to_past(h.read(lines, whole=True), SESSION, **more)


def told(writer: Writer, **more: Any) -> list[ev.Event]:
    """What is told, without the two events around it."""
    return inner(past(writer.lines, **more))


def inner(past: Past) -> list[ev.Event]:
    first, *events, last = [event for _, event in past.events]
    assert isinstance(first, ev.History)
    assert last == msgspec.structs.replace(first, phase="done")
    return events


def tags(events: list[ev.Event]) -> list[str]:
    return [str(type(event).__struct_config__.tag) for event in events]


def left_open(events: Sequence[ev.Event]) -> tuple[object, ...]:
    """What a session would have open after these, if they were its own."""
    state = State(SessionId("s"))
    for seq, event in enumerate(events, 1):
        evolve(state, event, seq, 0)
    return (state.items, state.inputs, state.prompts, state.turn, state.waiting_for)


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


def test_it_begins_and_ends_with_what_it_is() -> None:
    found = past(talk().lines, source="/there")
    began = ev.History(phase="started", conversation=SESSION, source="/there", turns=2)
    assert found.events[0] == (0, began)
    assert (found.conversation, found.cwd, found.title) == (SESSION, "/home/ada/boat", "")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: str(path.stem))
def test_any_past_of_the_real_programs_leaves_nothing_open(path: Path) -> None:
    events = inner(past(golden(path.stem)))
    assert left_open(events) == ({}, {}, {}, "", "")


@given(st.lists(pieces, max_size=60), st.integers(15, 80), st.integers(2000, 20_000))
@settings(max_examples=100)
def test_whatever_was_said_it_is_bounded_closed_and_the_newest(
    said: list[Piece], max_events: int, max_bytes: int
) -> None:
    conversation = ConversationText(about=Summary(), pieces=said)
    found = to_past(conversation, SESSION, max_events=max_events, max_bytes=max_bytes)
    assert len(found.events) <= max_events
    size = sum(len(msgspec.json.encode(event)) for _, event in found.events)
    assert size <= max_bytes + 1500
    events = inner(found)
    assert left_open(events) == ({}, {}, {}, "", "")
    names = [one.item for one in events if isinstance(one, ev.ItemStarted)]
    assert len(names) == len(set(names))
    spoken = [one.text for one in said if one.kind == "text"]
    kept = [one.text for one in events if isinstance(one, ev.TextDone)]
    assert spoken[len(spoken) - len(kept) :] == kept


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
    steered = inner(past(golden("2.1.325-steered")))
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
    events = inner(past(golden("2.1.325-subagent")))
    assert len([one for one in events if isinstance(one, ev.TurnStarted)]) == 2
    assert len([one for one in events if isinstance(one, ev.InputAccepted)]) == 1
    assert ev.ContextCompacted() in inner(past(golden("2.1.38-tools")))


def test_a_conversation_that_begins_in_the_middle_still_has_turns() -> None:
    writer = Writer()
    writer.say("and so on")
    writer.result("lost", "x")
    events = told(writer)
    assert tags(events)[0] == "turn.started"
    assert tags(events)[-1] == "turn.ended"


# ---- bounds ------------------------------------------------------------------------------------


def long_talk(turns: int) -> Writer:
    writer = Writer()
    for number in range(turns):
        writer.prompt(f"p{number}")
        writer.say("aye")
    return writer


def test_of_a_long_past_the_newest_turns_are_told() -> None:
    found = past(long_talk(50).lines, max_events=80, source="/there")
    first, notice, accepted, *_ = [event for _, event in found.events]
    assert notice == ev.Notice(text="not shown here: 40 earlier turns; all of it is in /there")
    assert isinstance(first, ev.History)
    assert (first.turns, first.left_out) == (10, 40)
    assert isinstance(accepted, ev.InputAccepted)
    assert accepted.content == (Text("p40"),)
    assert len(found.events) == 70 + 3


def test_a_turn_that_is_too_long_itself_is_told_from_its_prompt_and_its_end() -> None:
    writer = long_talk(1)
    for number in range(100):
        writer.say(f"step {number}")
    events = told(writer, max_events=30)
    accepted = [one.content for one in events if isinstance(one, ev.InputAccepted)]
    assert accepted == [(Text("p0"),)]
    kept = [one.text for one in events if isinstance(one, ev.TextDone)]
    assert kept == [f"step {number}" for number in range(90, 100)]


def test_bytes_are_bounded_too() -> None:
    writer = Writer()
    for number in range(40):
        writer.prompt(f"p{number}")
        writer.say("x" * 1000)
    found = past(writer.lines, max_bytes=20_000)
    assert 10_000 < sum(len(msgspec.json.encode(event)) for _, event in found.events) <= 20_000


def test_what_was_not_even_read_is_said() -> None:
    (notice,) = [one for one in told(talk(), unread_bytes=7_400_000) if isinstance(one, ev.Notice)]
    assert notice.text == "not shown here: the first 7 MB"


def test_what_is_too_long_for_a_row_is_a_blob() -> None:
    writer = talk()
    long = "x" * (BLOB_BYTES + 1)
    writer.prompt(long)
    writer.say(long + "y")
    writer.call("t9", long)
    writer.result("t9", long + "z")
    found = past(writer.lines)
    by_tag = dict(zip(tags(inner(found)), inner(found), strict=True))
    accepted, text = by_tag["input.accepted"], by_tag["text.done"]
    call, result = by_tag["tool.started"], by_tag["tool.result"]
    assert isinstance(accepted, ev.InputAccepted)
    assert isinstance(accepted.content[0], Text)
    assert accepted.content[0].text.startswith("x" * LONG_CHARS + " … and ")
    assert isinstance(text, ev.TextDone)
    assert found.blobs[text.blob] == (long + "y").encode()
    assert isinstance(result, ev.ToolResult)
    assert found.blobs[result.blob] == (long + "z").encode()
    assert isinstance(call, ev.ToolStarted)
    assert call.input is msgspec.UNSET
    assert long.encode() in found.blobs[call.blob]
    assert all(hashlib.sha256(data).hexdigest() == name for name, data in found.blobs.items())
    assert max(len(msgspec.json.encode(event)) for _, event in found.events) < BLOB_BYTES


def test_a_day_of_work_fits() -> None:
    assert len(past(long_talk(500).lines).events) == 500 * 7 + 2 <= MAX_EVENTS


def test_everything_has_its_time() -> None:
    (_, *times, _) = [at_ms for at_ms, _ in past(talk().lines).events]
    assert times == sorted(times)
    assert times[0] == 1767225601000
    assert inner(past([])) == []
