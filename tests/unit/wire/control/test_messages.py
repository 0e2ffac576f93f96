"""Messages both ways: the document's own examples, and everything that is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from flybridge.errors import InvalidRequestError, RemoteProtocolError
from flybridge.wire.control import messages as w

EXAMPLES = Path(__file__).parents[3] / "golden" / "control" / "examples.jsonl"
HEAD: dict[str, Any] = {
    "v": 1,
    "request_id": "req_1",
    "team": "red",
    "session_id": "ses_1",
    "agent_id": "claude:1",
}
FROM: dict[str, Any] = {"sender": "lead", "sent_at": "2026-02-20T21:15:00Z"}


def example(number: int) -> bytes:
    return EXAMPLES.read_bytes().splitlines()[number]


@pytest.mark.conforms("S2-8")
@pytest.mark.parametrize("number", range(4))
def test_the_examples_of_the_document_are_read_and_written_again(number: int) -> None:
    line = example(number)
    asked = json.loads(line)["type"].endswith("request")
    message = w.decode_request(line) if asked else w.decode_answer(line)
    assert json.loads(w.encode(message)) == json.loads(line)
    assert w.type_of(message) == json.loads(line)["type"]


WORDS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=20)
MAYBE = st.one_of(st.just(UNSET), WORDS)


@given(
    text=st.text(min_size=1),
    thread=MAYBE,
    mode=st.sampled_from([UNSET, "now", "queue"]),
    stop=st.sampled_from([UNSET, True, False]),
    count=st.integers(0, 9),
)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_a_message_comes_back_as_it_was(
    text: str, thread: Any, mode: Any, stop: Any, count: int
) -> None:
    message = w.StdinRequest(
        **HEAD,
        **FROM,
        content=text,
        thread_id=thread,
        mode=mode,
        interrupt=stop,
        meta=w.Metadata(retry_count=count),
    )
    assert w.decode_request(w.encode(message)) == message


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_bytes_are_a_message_or_a_refusal(data: bytes) -> None:
    for decode, error in (
        (w.decode_request, InvalidRequestError),
        (w.decode_answer, RemoteProtocolError),
    ):
        try:
            decode(data)
        except error:
            pass
    w.read_head(data)


@pytest.mark.conforms("S2-2", "S2-3.1a", "S2-3.3")
@pytest.mark.parametrize("missing", [*HEAD, *FROM, "signal"])
def test_a_needed_field_is_needed(missing: str) -> None:
    whole = {"type": "control.interrupt.request", **HEAD, **FROM, "signal": "interrupt"}
    w.decode_request(msgspec.json.encode(whole))
    with pytest.raises(InvalidRequestError, match=missing):
        w.decode_request(msgspec.json.encode({k: v for k, v in whole.items() if k != missing}))


def test_a_field_nobody_knows_is_refused_but_not_in_meta() -> None:
    whole = {"type": "control.interrupt.request", **HEAD, **FROM, "signal": "interrupt"}
    with pytest.raises(InvalidRequestError, match="turnid"):
        w.decode_request(msgspec.json.encode({**whole, "turnid": "trn_1"}))
    w.decode_request(msgspec.json.encode({**whole, "meta": {"colour": "red"}}))


@pytest.mark.conforms("S2-4a")
def test_there_are_seven_results_and_idle_is_none_of_them() -> None:
    ack = json.loads(example(1))
    for result in (
        "ok",
        "not_live",
        "not_found",
        "busy",
        "timeout",
        "rejected",
        "internal_error",
    ):
        w.decode_answer(msgspec.json.encode({**ack, "result": result}))
    with pytest.raises(RemoteProtocolError):
        w.decode_answer(msgspec.json.encode({**ack, "result": "idle"}))


def test_a_bad_message_still_says_whose_it_is() -> None:
    bad = msgspec.json.encode({"type": "control.stdin.request", **HEAD, "v": "one"})
    head = w.read_head(bad)
    assert head is not None
    assert (head.request_id, head.sender) == ("req_1", "")
    for none in (b"[]", b'{"type":"control.stdin.ack","request_id":"r"}', b'{"type":7}'):
        assert w.read_head(none) is None


def test_what_was_not_said_is_told_apart_from_what_was() -> None:
    assert w.given(UNSET, 3) == 3
    assert w.given(0, 3) == 0


def test_progress_comes_back_as_it_was_and_is_no_answer() -> None:
    told = w.StdinProgress(**HEAD, at=FROM["sent_at"], stage="reading", bytes=1, total=2)
    data = w.encode(told)
    assert w.read_progress(data) == told
    assert json.loads(data)["type"] == "control.stdin.progress"
    with pytest.raises(RemoteProtocolError):
        w.decode_answer(data)
    for other in (b"", b"nonsense", b"\xff", example(1)):
        assert w.read_progress(other) is None
