"""One native client: hello first, one answer to each bad line, and when to hang up."""

from __future__ import annotations

import msgspec
import pytest

from flybridge.frontends.native.adapter import MAX_ERRORS, NativeAdapter
from flybridge.model.deliveries import Batch
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Detach
from flybridge.wire.native.messages import ErrorLine, ReplyLine, Welcome, decode_gateway, encode

HELLO = b'{"type":"hello","proto":1,"client":"chat/0.1"}\n'
LIST = b'{"type":"ask","ref":"1","name":"list"}\n'
WELCOME = Welcome(proto=1, version="0.1.0", generation=7, principal="uid:1000", scopes=("view",))


def fresh(max_line: int = 1000) -> NativeAdapter:
    return NativeAdapter(welcome=WELCOME, max_line=max_line)


def greeted(max_line: int = 1000) -> NativeAdapter:
    adapter = fresh(max_line)
    adapter.receive(HELLO, 0)
    adapter.take()
    return adapter


def error_of(frame: bytes) -> ErrorLine:
    message = decode_gateway(frame)
    assert isinstance(message, ErrorLine)
    return message


def test_hello_is_answered_with_the_welcome() -> None:
    adapter = fresh()
    assert adapter.receive(HELLO, 0) == []
    assert adapter.take() == [encode(WELCOME)]
    assert adapter.client == "chat/0.1"


def test_nothing_is_carried_out_before_hello() -> None:
    adapter = fresh()
    assert adapter.receive(LIST, 0) == []
    [frame] = adapter.take()
    assert error_of(frame).message == "say hello first"
    assert adapter.receive(HELLO + LIST, 0) == [Ask(ref="1", name="list")]


def test_another_protocol_is_refused() -> None:
    adapter = fresh()
    assert adapter.receive(b'{"type":"hello","proto":2}\n' + LIST, 0) == []
    refused, unheard = map(error_of, adapter.take())
    assert "protocol 1, not 2" in refused.message
    assert unheard.message == "say hello first"


def test_a_second_hello_changes_nothing() -> None:
    adapter = greeted()
    adapter.receive(b'{"type":"hello","proto":1,"client":"other"}\n', 0)
    [frame] = adapter.take()
    assert error_of(frame).code == "protocol_remote"
    assert adapter.client == "chat/0.1"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"type":"submit","ref":"9","session":"s","request":"r"}', "command"),
        (b'{"type":"submit","ref":"9","session":"s","request":"r","command":{}}', "type"),
        (b'{"type":"attach","ref":"9","session":"s","after":-3}', "after"),
        (b'{"type":"ask","ref":"9"}', "name"),
        (b'{"type":"sing","ref":"9"}', "sing"),
    ],
)
def test_a_bad_request_with_a_ref_gets_a_reply(line: bytes, why: str) -> None:
    adapter = greeted()
    assert adapter.receive(line + b"\n", 0) == []
    [frame] = adapter.take()
    reply = decode_gateway(frame)
    assert isinstance(reply, ReplyLine)
    assert (reply.ref, reply.error) == ("9", "invalid_request")
    assert why in reply.message


def test_a_bad_line_without_a_ref_gets_an_error_line() -> None:
    adapter = greeted()
    adapter.receive(b'{"type":"detach"}\n{"ref":"1"\n', 0)
    codes = [error_of(frame).code for frame in adapter.take()]
    assert codes == ["protocol_remote", "protocol_remote"]


@pytest.mark.parametrize("tail", [b"\n", b""])
@pytest.mark.parametrize("together", [True, False])
def test_an_overlong_line_ends_the_conversation(tail: bytes, together: bool) -> None:
    adapter = greeted(max_line=100)
    long = b"x" * 101 + tail
    reads = [LIST + long] if together else [LIST, long]
    requests = [request for read in reads for request in adapter.receive(read, 0)]
    assert requests == [Ask(ref="1", name="list")]
    assert adapter.closed
    [frame] = adapter.take()
    assert error_of(frame).message == "line longer than 100 bytes"
    assert adapter.receive(LIST, 0) == []
    assert adapter.take() == []


def test_a_line_of_exactly_the_bound_is_read() -> None:
    line = LIST.strip().ljust(200) + b"\n"
    assert len(greeted(max_line=200).receive(line, 0)) == 1
    assert len(greeted(max_line=199).receive(line, 0)) == 0


def test_a_client_that_only_talks_nonsense_is_hung_up_on() -> None:
    adapter = greeted()
    adapter.receive(b"x\n" * 1000 + LIST, 0)
    assert adapter.closed
    assert len(adapter.take()) == MAX_ERRORS


def test_a_mistake_now_and_then_is_forgiven() -> None:
    adapter = greeted()
    for _ in range(2 * MAX_ERRORS):
        assert len(adapter.receive(b"x\n" + LIST, 0)) == 1
    assert not adapter.closed


def test_bytes_before_the_newline_wait() -> None:
    adapter = greeted()
    assert adapter.receive(b'{"type":"detach",', 0) == []
    assert adapter.receive(b'"session":"s"}\r\n', 0) == [Detach(session=SessionId("s"))]


def test_a_batch_is_one_frame_and_an_empty_one_is_none() -> None:
    adapter = greeted()
    adapter.deliver(Batch(session=SessionId("s"), epoch=1, first_seq=1, count=2, wire=b"{}\n{}"), 0)
    adapter.deliver(Batch(session=SessionId("s"), epoch=1, first_seq=3, count=0, wire=b""), 0)
    assert adapter.take() == [b"{}\n{}"]
    assert adapter.shared_wire


def test_frames_never_end_in_a_newline() -> None:
    adapter = greeted()
    adapter.receive(b'{"type":"ask","ref":"a\\nb"}\n', 0)
    [frame] = adapter.take()
    assert b"\n" not in frame
    assert msgspec.json.decode(frame)["ref"] == "a\nb"
