"""Lines in, questions out; answers in, acknowledgements out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from flybridge.frontends.control.adapter import MAX_ERRORS, ControlAdapter
from flybridge.model.deliveries import Reply, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask
from flybridge.wire.control.messages import StdinProgress

GOOD = (
    b'{"type":"control.stdin.request","v":1,"request_id":"r","team":"t","session_id":"s",'
    b'"agent_id":"a:1","sender":"me","sent_at":"","content":"hi"}'
)


def out(adapter: ControlAdapter) -> list[dict[str, Any]]:
    return [json.loads(one) for one in adapter.take()]


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_every_line_is_one_question_however_it_comes(size: int) -> None:
    adapter = ControlAdapter()
    stream = GOOD + b"\n\n" + GOOD + b"\r\n"
    asked = [
        one
        for at in range(0, len(stream), size)
        for one in adapter.receive(stream[at : at + size], 0)
    ]
    assert [one.name for one in asked if isinstance(one, Ask)] == ["control", "control"]
    assert len({one.ref for one in asked if isinstance(one, Ask)}) == 2
    assert out(adapter) == []


def test_an_answer_is_passed_on_as_it_is() -> None:
    adapter = ControlAdapter()
    (asked,) = adapter.receive(GOOD + b"\n", 0)
    assert isinstance(asked, Ask)
    adapter.deliver(Reply(ref=asked.ref, value=Raw(b'{"type":"control.stdin.ack"}')), 0)
    assert adapter.take() == [b'{"type":"control.stdin.ack"}']
    adapter.deliver(Reply(ref=asked.ref, value=Raw(b"{}")), 0)
    adapter.deliver(View(SessionId("s"), 1, Raw(b"{}")), 0)
    assert adapter.take() == [], "nothing else is for a sender"


@pytest.mark.parametrize(
    ("error", "result"), [("not_allowed", "rejected"), ("internal", "internal_error")]
)
def test_a_question_that_was_refused_is_an_acknowledgement_too(error: str, result: str) -> None:
    adapter = ControlAdapter()
    (asked,) = adapter.receive(GOOD + b"\n", 0)
    assert isinstance(asked, Ask)
    adapter.deliver(Reply(ref=asked.ref, error=error, message="no"), 0)
    (ack,) = out(adapter)
    assert (ack["type"], ack["request_id"], ack["result"]) == ("control.stdin.ack", "r", result)
    assert ack["error"] == {"code": error, "message": "no"}


@pytest.mark.abuse(49)
@pytest.mark.parametrize(
    "line",
    [b"nonsense", b"[]", b'"\xff"', b'{"type":"hello"}', b"[" * 100_000, b'{"type":'],
)
def test_abuse_49_what_is_no_message_gets_an_error(line: bytes) -> None:
    adapter = ControlAdapter()
    assert adapter.receive(line + b"\n", 0) == []
    (said,) = out(adapter)
    assert (said["type"], said["v"]) == ("control.error", 1)
    assert said["error"]["code"] == "invalid_request"
    assert not adapter.closed


def test_somebody_who_speaks_another_language_is_shown_out() -> None:
    adapter = ControlAdapter()
    adapter.receive(b"GET / HTTP/1.1\n" * MAX_ERRORS + GOOD + b"\n", 0)
    assert adapter.closed
    assert len(out(adapter)) == MAX_ERRORS
    assert adapter.receive(GOOD + b"\n", 0) == []


@pytest.mark.parametrize("tail", [b"", b"\n"])
def test_a_message_without_end_is_the_last(tail: bytes) -> None:
    adapter = ControlAdapter(max_line=100)
    assert adapter.receive(b"x" * 101 + tail, 0) == []
    assert adapter.closed
    assert out(adapter)[0]["error"]["code"] == "too_big"
    adapter.tick(0)


def test_progress_is_told_before_the_answer_and_never_after_it() -> None:
    adapter = ControlAdapter()
    (asked,) = adapter.receive(GOOD + b"\n", 0)
    assert isinstance(asked, Ask)
    head: dict[str, Any] = {"v": 1, "request_id": "r", "team": "t", "session_id": "s"}
    told = StdinProgress(**head, agent_id="a:1", at="", stage="reading", bytes=1, total=2)
    adapter.report(asked.ref, told)
    adapter.report("another", told)
    assert [one["type"] for one in out(adapter)] == ["control.stdin.progress"]
    adapter.deliver(Reply(ref=asked.ref, value=Raw(b"{}")), 0)
    adapter.report(asked.ref, told)
    assert adapter.take() == [b"{}"]
