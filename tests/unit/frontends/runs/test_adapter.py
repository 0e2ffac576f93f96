"""The run protocol as an object: lines in, wishes out; a log in, lines out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.frontends.runs.adapter import CLOSE, OpenRun, RunAdapter, Tell, prompt_of
from flybridge.frontends.runs.ids import Place, place_of
from flybridge.frontends.runs.wire import messages as w
from flybridge.model import events as e
from flybridge.model.commands import AnswerPermission, Close, SendInput
from flybridge.model.content import Text
from flybridge.model.ids import PromptId
from tests.unit.frontends.runs.test_translate import accepted, ended, growing, opened, outcome, text

ASK = '<!--QUESTION:{"questions":[%s]}-->'


def frame(kind: str, **payload: Any) -> bytes:
    return json.dumps({"v": "1", "type": kind, "payload": payload}).encode() + b"\n"


def marker(**asked: Any) -> str:
    return ASK % json.dumps({"question": "Name?", **asked})


class Run:
    """An adapter whose run has begun, and what it has said."""

    def __init__(self, *events: e.Event, after: Place | None = None, **config: Any) -> None:
        self.adapter = RunAdapter("run_1", telling="00000000", after=after)
        self.adapter.receive(frame("run.start", prompt="go"), 0)
        (self.first,) = self.adapter.wants()
        self.adapter.said_prompt()
        self.seq = 0
        self.take(opened(**config), accepted(), *events)

    def take(self, *events: e.Event) -> None:
        for event in events:
            self.seq += 1
            self.adapter.event(self.seq, 1000 * self.seq, event)
        self.adapter.caught_up = True
        self.adapter.act(1000 * self.seq)

    def say(self, kind: str, now_ms: int = 0, **payload: Any) -> list[Any]:
        self.adapter.receive(frame(kind, **payload), now_ms)
        return self.adapter.wants()

    def wants(self) -> list[Any]:
        return list(self.adapter.wants())

    def said(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.adapter.take()]


def test_a_start_opens_a_run_with_its_context_before_the_prompt() -> None:
    adapter = RunAdapter("run_1", telling="00000000")
    line = json.dumps(
        {
            "v": "1",
            "type": "run.start",
            "run_id": "run_mine",
            "payload": {"prompt": "fix", "context": {"spec": "words"}},
        }
    )
    adapter.receive(line[:9].encode(), 0)
    assert adapter.wants() == []
    adapter.receive(line[9:].encode() + b"\n\n  \n", 0)
    (want,) = adapter.wants()
    assert isinstance(want, OpenRun)
    assert adapter.run == adapter.log.run == "run_mine"
    assert prompt_of(want.start).command == SendInput(content=(Text("spec:\nwords\n\nfix"),))


def test_only_who_began_a_run_is_told_its_key() -> None:
    for early in (False, True):
        begun = RunAdapter("run_1", telling="00000000")
        begun.attach_key = "k" * 43
        if early:
            begun.begin(w.Started(provider="demo"), 0)
        begun.event(1, 1000, opened())
        (first,) = [json.loads(line) for line in begun.take()]
        assert first["payload"]["attach_key"] == "k" * 43
        again = RunAdapter("run_1", telling="11111111")
        again.event(1, 1000, opened())
        (told,) = [json.loads(line) for line in again.take()]
        assert told["id"] == first["id"]
        assert "attach_key" not in told["payload"]


def test_what_only_the_clock_makes_happen_needs_nobody() -> None:
    run = Run(text(marker(timeoutS=20, default="Bob")), ended(), outcome(), timeout_s=60.0)
    run.adapter.expire(22_999)
    assert run.wants() == []
    run.adapter.expire(23_000)
    (answer,) = run.wants()
    assert answer.command == SendInput(content=(Text("Bob"),))
    run.adapter.expire(61_000)
    (close,) = run.wants()
    assert close == Tell(
        request=CLOSE, command=Close(reason="run.failed timeout: Timed out after 60 s.")
    )
    run.adapter.expire(62_000)
    assert run.wants() == []


@pytest.mark.conforms("S4-6.19")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (frame("run.cancel"), "protocol_error"),
        (frame("run.tango"), "protocol_error"),
        (b'{"v":"2","type":"run.start","payload":{"prompt":"x"}}\n', "unsupported_version"),
        (b"\xff\n", "protocol_error"),
        (b"", "protocol_error"),
    ],
)
def test_a_bad_beginning_is_the_end(data: bytes, code: str) -> None:
    adapter = RunAdapter("run_1", telling="00000000")
    adapter.receive(data, 0)
    adapter.receive(frame("run.start", prompt="too late"), 0)
    adapter.receive(b"", 0)
    (only,) = [json.loads(line) for line in adapter.take()]
    assert (only["type"], only["payload"]["code"]) == ("run.failed", code)
    assert adapter.wants() == []


@pytest.mark.conforms("S4-6.12", "S4-2.3")
def test_later_lines_that_are_bad_are_only_warned_of() -> None:
    run = Run()
    run.adapter.receive(b"{bad\n" + frame("run.tango") + frame("run.start", prompt="x"), 0)
    run.say("run.input", question_id="q", value="x")
    assert len(run.adapter.warnings) == 4
    assert run.adapter.wants() == []


def test_a_line_that_is_too_long_is_passed_over() -> None:
    run = Run()
    run.adapter.receive(b"x" * (w.MAX_LINE_BYTES + 1), 0)
    run.adapter.receive(b"\n" + frame("run.cancel"), 0)
    assert len(run.adapter.warnings) == 1
    assert len(run.adapter.wants()) == 1


def test_an_answer_is_handed_over_when_the_turn_is_over() -> None:
    run = Run(text(marker()))
    assert run.say("run.input", question_id="q_3.1", value="Ada") == []
    run.take(ended(), outcome())
    (want,) = run.wants()
    assert want == Tell(
        request="run.answer.3", command=SendInput(content=(Text("Ada"),)), group="3"
    )
    run.adapter.act(0)
    assert run.adapter.wants() == []


def test_a_secret_is_handed_over_as_one() -> None:
    run = Run(text(marker(kind="secret")), ended(), outcome())
    (want,) = run.say("run.input", question_id="q_3.1", value="hunter2")
    assert want.command.secret


def test_a_bad_answer_asks_again_and_a_second_one_is_ignored() -> None:
    run = Run(text(marker(options=[{"label": "A"}])), ended(), outcome())
    run.said()
    assert run.say("run.input", question_id="q_3.1", value="B") == []
    (again,) = run.said()
    assert again["payload"]["validation"] == "choose one of the options: A"
    assert place_of("run_1", again["id"]) is not None
    assert len(run.say("run.input", question_id="q_3.1", value="A")) == 1
    assert run.say("run.input", question_id="q_3.1", value="A") == []
    assert len(run.adapter.warnings) == 1


def test_a_refused_answer_can_be_given_again() -> None:
    prompt = PromptId("prm_1")
    run = Run(e.PermissionRequested(prompt=prompt, tool="Bash", input=Raw(b"{}"), digest="d"))
    (want,) = run.say("run.input", question_id="prm_1", value="allow")
    assert isinstance(want.command, AnswerPermission)
    run.adapter.refused(want, "not now")
    assert len(run.say("run.input", question_id="prm_1", value="deny")) == 1
    assert run.adapter.warnings == ["not now"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"default": "Bob"}, "Bob"), ({"required": False}, "(no answer)"), ({}, None)],
)
def test_a_question_out_of_time(asked: dict[str, Any], said: str | None) -> None:
    run = Run(text(marker(timeoutS=10, **asked)), ended(), outcome())
    assert run.adapter.deadline_ms == 3000 + 10_000
    run.adapter.act(12_999)
    assert run.adapter.wants() == []
    run.adapter.act(13_000)
    (want,) = run.wants()
    assert run.adapter.deadline_ms is None
    if said is None:
        assert want.command.reason == "run.failed timeout: nobody answered: Name?"
    else:
        assert want.command.content == (Text(said),)


def test_a_run_out_of_time_fails() -> None:
    run = Run(timeout_s=5)
    assert run.adapter.deadline_ms == 6000
    run.adapter.act(6000)
    (want,) = run.wants()
    assert want == Tell(
        request=CLOSE, command=Close(reason="run.failed timeout: Timed out after 5 s.")
    )


def test_the_end_of_the_input_ends_only_a_run_that_asks() -> None:
    run = Run()
    run.adapter.receive(b"", 0)
    assert run.adapter.wants() == []
    run.take(text(marker(required=False)), ended(), outcome())
    (want,) = run.wants()
    assert isinstance(want.command, SendInput)
    run = Run(text(marker()), ended(), outcome())
    run.adapter.receive(b"", 0)
    (want,) = run.wants()
    assert want.command.reason.startswith("run.failed protocol_error: The agent asks")


@pytest.mark.conforms("S4-6.21")
def test_two_cancels_are_one_and_the_log_decides_who_was_first() -> None:
    run = Run()
    assert len(run.say("run.cancel", reason="a")) == 1
    assert run.say("run.cancel", reason="b") == []
    run.take(ended(), outcome(), e.SessionClosed(reason="run.cancelled: a"))
    assert run.said()[-1]["type"] == "run.completed"
    assert isinstance(run.adapter.terminal, w.Completed)


def test_what_is_known_already_is_not_told_again() -> None:
    all_of = Run(text("a"), text("b"), ended(), outcome()).said()
    for n, one in enumerate(all_of):
        again = Run(text("a"), text("b"), ended(), outcome(), after=place_of("run_1", one["id"]))
        assert again.said() == all_of[n + 1 :]


def test_a_start_that_was_told_at_once_is_not_told_twice() -> None:
    adapter = RunAdapter("run_1", telling="00000000")
    adapter.begin(w.Started(provider="demo"), 5)
    adapter.event(1, 9, opened())
    (only,) = [json.loads(line) for line in adapter.take()]
    assert only["type"] == "run.started"


def test_pieces_of_text_are_told_once_and_only_when_wanted() -> None:
    run = Run(growing("itm"), stream=True)
    run.said()
    run.adapter.preview("itm", 0, 2, "ab", 0)
    run.adapter.preview("itm", 0, 2, "ab", 0)
    run.adapter.preview("itm", 2, 3, "c", 0)
    assert [one["payload"]["content"] for one in run.said()] == ["ab", "c"]
    quiet = Run(growing("itm"))
    quiet.said()
    quiet.adapter.preview("itm", 0, 2, "ab", 0)
    assert quiet.said() == []


@pytest.mark.parametrize(
    "events",
    [
        [growing("itm_1", "thinking")],
        [growing("itm_1", "tool")],
        [growing("itm_1", "text", parent="itm_helper")],
        [growing("itm_1"), text("ab")],
    ],
)
def test_only_a_text_that_will_be_told_is_told_in_pieces(events: list[e.Event]) -> None:
    """Least of all a thought, or what a tool is called with, as if the agent had said it."""
    run = Run(*events, stream=True, thinking=True)
    run.said()
    run.adapter.preview("itm_1", 0, 2, "ab", 0)
    assert run.said() == []


def test_an_answer_may_come_before_its_question_was_told_again() -> None:
    adapter = RunAdapter("run_1", telling="00000000")
    adapter.begun = True
    adapter.receive(frame("run.input", question_id="q_3.1", value="Ada"), 0)
    log: list[e.Event] = [opened(), accepted(), text(marker()), ended(), outcome()]
    for seq, event in enumerate(log, start=1):
        adapter.event(seq, 0, event)
    adapter.caught_up = True
    adapter.act(0)
    (want,) = adapter.wants()
    assert isinstance(want, Tell)
    assert want.command == SendInput(content=(Text("Ada"),))


def test_a_script_that_died_before_its_prompt_left_a_run_that_cannot_go_on() -> None:
    adapter = RunAdapter("run_1", telling="00000000")
    adapter.begun = True
    adapter.event(1, 0, opened())
    adapter.act(0)
    assert adapter.wants() == []
    adapter.caught_up = True
    adapter.act(0)
    (want,) = adapter.wants()
    assert isinstance(want, Tell)
    assert isinstance(want.command, Close)


def test_a_prompt_that_never_left_is_said_again_once() -> None:
    run = Run(outcome("not_delivered"))
    (want,) = run.wants()
    assert want == Tell(request="run.prompt", command=SendInput(content=(Text("go"),)))
    run.adapter.act(0)
    assert run.adapter.wants() == []


def test_a_run_that_cannot_be_recorded_still_ends_once() -> None:
    run = Run()
    run.said()
    run.adapter.fail("internal_error", "no space left", 0)
    run.adapter.fail("internal_error", "again", 0)
    run.take(ended(), outcome())
    (only,) = run.said()
    assert only["payload"] == {"code": "internal_error", "message": "no space left"}


@pytest.mark.conforms("S4-2.2", "S4-6.14")
@given(st.lists(st.binary(max_size=40)), st.booleans())
def test_nothing_that_is_read_breaks_it(reads: list[bytes], begun: bool) -> None:
    adapter = RunAdapter("run_1", telling="00000000")
    if begun:
        adapter.receive(frame("run.start", prompt="go"), 0)
    for data in (*reads, b""):
        adapter.receive(data, 0)
    lines = adapter.take()
    assert all(json.loads(line)["type"] == "run.failed" for line in lines)
    assert len(lines) == (0 if adapter.begun else 1)
