from __future__ import annotations

from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.audit import bad_note, note_of
from flybridge.frontends.control.translate import Verdict
from flybridge.session.authorisation import Caller
from flybridge.wire.control import messages as w

CALLER = Caller(principal="token:a", scopes=frozenset(), door="http", credential="a", source="::1")
ASKED = w.StdinRequest(
    v=1,
    request_id="r",
    team="red",
    session_id="ses_1",
    agent_id="claude:1",
    sender="lead",
    sent_at="",
    content="words",
    meta=w.Metadata(retry_count=2),
)


def test_a_message_is_written_down_without_its_words() -> None:
    note = note_of(CALLER, ASKED)
    assert (note.event, note.outcome, note.detail) == (
        "control.stdin.request",
        "received",
        "retry 2",
    )
    assert (note.request, note.team, note.session, note.agent_id, note.sender) == (
        "r",
        "red",
        "ses_1",
        "claude:1",
        "lead",
    )
    assert (note.principal, note.door) == ("token:a", "http")


def test_its_words_are_there_if_that_is_wanted() -> None:
    assert note_of(CALLER, ASKED, text=True).detail == "retry 2 words"


def test_an_acknowledgement_says_what_came_of_it() -> None:
    done = note_of(CALLER, ASKED, Verdict(result="ok", duplicate=True))
    assert (done.event, done.outcome, done.result, done.duplicate) == (
        "control.stdin.ack",
        "done",
        "ok",
        "true",
    )
    failed = note_of(CALLER, ASKED, Verdict(result="busy", error=w.Failure(code="busy")))
    assert (failed.outcome, failed.code, failed.duplicate) == ("refused", "busy", "false")


def test_half_a_message_is_written_down_too() -> None:
    head = w.Head("control.interrupt.request", "r", "t", "s", "a")
    note = note_of(CALLER, head, Verdict(result="rejected"))
    assert (note.event, note.request) == ("control.interrupt.ack", "r")
    assert note_of(CALLER, head).detail == ""


def test_what_is_no_message_is_written_down_without_its_words() -> None:
    note = bad_note(CALLER, InvalidRequestError("words"))
    assert (note.event, note.outcome, note.code) == ("control.bad", "refused", "invalid_request")
    assert "words" not in repr(note)
