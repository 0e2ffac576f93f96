"""Golden documents both ways, and everything a peer may get wrong."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.errors import RemoteProtocolError
from flybridge.wire.native.messages import (
    MAX_DEPTH,
    MAX_NAME,
    Ask,
    Attach,
    ClientMessage,
    GatewayMessage,
    GaugeLine,
    Head,
    Hello,
    OtherLine,
    PreviewLine,
    ReplyLine,
    Submit,
    check_depth,
    decode_client,
    decode_gateway,
    encode,
    read_head,
)

GOLDEN = Path(__file__).parents[3] / "golden" / "native"
DECODERS = {
    "client.jsonl": decode_client,
    "gateway.jsonl": decode_gateway,
    "entries.jsonl": decode_gateway,
}


def golden(name: str) -> list[bytes]:
    return (GOLDEN / name).read_bytes().splitlines()


def submit(command: bytes) -> bytes:
    return b'{"type":"submit","ref":"1","session":"s","request":"r","command":' + command + b"}"


@pytest.mark.parametrize("name", DECODERS)
def test_golden_documents_decode_and_encode_to_the_same_bytes(name: str) -> None:
    for line in golden(name):
        message = DECODERS[name](line)
        assert not isinstance(message, OtherLine)
        assert encode(message) == line


def test_no_golden_file_is_unused_and_no_message_lacks_one() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(DECODERS)
    seen = {type(decode_client(line)) for line in golden("client.jsonl")}
    assert seen == set(get_args(ClientMessage))
    told = {type(decode_gateway(line)) for line in golden("gateway.jsonl")}
    assert told == set(get_args(GatewayMessage))


def test_what_a_newer_peer_adds_is_ignored() -> None:
    assert decode_client(b'{"type":"hello","proto":1,"mood":{"x":[1]}}') == Hello(proto=1)
    newer = b'{"type":"preview","session":"s","item":"i","since":0,"upto":1,"text":"t","z":0}'
    assert decode_gateway(newer) == PreviewLine(session="s", item="i", since=0, upto=1, text="t")


def test_a_message_kind_of_a_newer_gateway_is_told_apart_from_a_broken_one() -> None:
    assert decode_gateway(b'{"type":"aurora","x":1}') == OtherLine(type="aurora")
    with pytest.raises(RemoteProtocolError, match="bad message from the gateway"):
        decode_gateway(b'{"type":"event","session":"s"}')
    with pytest.raises(RemoteProtocolError):
        decode_gateway(b'{"no":"type"}')


def test_fields_that_were_left_out_have_their_defaults() -> None:
    assert decode_client(b'{"type":"attach","ref":"1","session":"s"}') == Attach(
        ref="1", session="s", epoch=0, after=0, last=0, previews=True
    )
    message = decode_client(submit(b"{}"))
    assert isinstance(message, Submit)
    assert (message.until, message.wait_ms) == ("written", 2000)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b'{"type":"hello"',
        b'{"type":"hello","proto":1} trailing',
        b'{"type":"hello","proto":true}',
        b'{"type":"hello","proto":1.5}',
        b'{"type":"hello","proto":-1}',
        b'{"type":"sing","ref":"1"}',
        b'{"type":"detach","session":""}',
        b'{"type":"detach","session":"\xff"}',
        b'{"type":"ask","ref":"1","name":7}',
        b'{"type":"ask","ref":"","name":"list"}',
        b'{"type":"attach","ref":"1","session":"s","after":9007199254740992}',
        b'{"type":"attach","ref":"1","session":"s","after":-1}',
        b'{"type":"attach","ref":"1","session":"s","after":1' + b"0" * 400 + b"}",
        b'{"type":"attach","ref":"' + b"r" * (MAX_NAME + 1) + b'","session":"s"}',
        b'{"type":"submit","ref":"1","session":"s","request":"r"}',
        submit(b'{},"wait_ms":600001'),
        submit(b"NaN"),
        submit(b"[Infinity]"),
        submit(b"1e999"),
        submit(b'{"a":"\xc3"}'),
        submit(b'{"a":"\\ud800 alone"}'),
        b'{"type":"ask","ref":"1","name":"open","params":["\xfe"]}',
        submit(b"[" * 100_000 + b"]" * 100_000),
        submit(b"[" * 100_000),
        submit(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH),
    ],
)
def test_a_malformed_message_is_the_clients_fault(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"^bad message: ") as caught:
        decode_client(line)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("line", [b"", b"\xff", b"[" * 100_000, b'{"type":"error","code":"\xff"}'])
def test_a_malformed_message_is_the_gateways_fault(line: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"^bad message from the gateway: "):
        decode_gateway(line)


def test_depth_is_bounded_and_brackets_in_strings_do_not_count() -> None:
    check_depth(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)
    check_depth(b'{"a":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH)
    check_depth(b"[" + b"[]," * 1000 + b"[]]")
    check_depth(b'["' + b"[{" * 1000 + b'\\"[[[[\\\\"]')
    with pytest.raises(RecursionError):
        check_depth(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    with pytest.raises(RecursionError):
        check_depth(b'[{"a":' * MAX_DEPTH + b"1" + b"}]" * MAX_DEPTH)


@given(st.recursive(st.none() | st.text('[]{}"\\a'), lambda inner: st.lists(inner, max_size=4)))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_any_shallow_document_is_within_bounds(document: object) -> None:
    padded = msgspec.json.encode([document, [[]] * (MAX_DEPTH + 1)])
    check_depth(padded)


def test_raw_bodies_never_break_a_line() -> None:
    pretty = Raw(b'{\n  "tokens": 1\n}')
    line = encode(GaugeLine(session="s", name="usage", value=pretty))
    assert b"\n" not in line
    assert msgspec.json.decode(line)["value"] == {"tokens": 1}


def test_a_reply_writes_only_what_it_has_to_say() -> None:
    assert encode(ReplyLine(ref="1")) == b'{"type":"reply","ref":"1"}'
    assert encode(Ask(ref="1", name="list")) == b'{"type":"ask","ref":"1","name":"list"}'


def test_the_head_of_a_bad_message_is_read_where_it_can_be() -> None:
    assert read_head(b'{"type":"submit","ref":"9","session":7}') == Head(type="submit", ref="9")
    assert read_head(b'{"ref":9}') == Head()
    assert read_head(b'{"ref":"9"') == Head()
    assert read_head(b'{"type":"ask","ref":"' + b"x" * 300 + b'"}') == Head(type="ask")


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_any_bytes_are_a_message_or_a_protocol_error(data: bytes) -> None:
    for decode in (decode_client, decode_gateway):
        try:
            decode(data)
        except RemoteProtocolError:
            pass
