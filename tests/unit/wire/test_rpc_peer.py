"""The JSON-RPC peer that Codex and ACP share: ids, pending requests, classification."""

from __future__ import annotations

import json

import pytest
from msgspec import Raw

from flybridge.wire.rpc_peer import (
    INTERNAL_ERROR,
    MAX_PENDING,
    METHOD_NOT_FOUND,
    Malformed,
    Notification,
    Request,
    Response,
    RpcError,
    RpcPeer,
)


def test_requests_are_numbered_and_their_answers_find_what_was_kept() -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    first = json.loads(peer.request("initialize", {"a": 1}, "hello"))
    second = json.loads(peer.request("session/new", {}, "new"))
    assert first == {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"a": 1}}
    assert second["id"] == 2
    late = peer.receive(b'{"id":2,"result":{"x":[1]}}')
    assert late == Response(2, "new", Raw(b'{"x":[1]}'))
    assert peer.pending == {1: "hello"}
    assert peer.receive(b'{"id":2,"result":{}}') == Response(2, None, Raw(b"{}"))


def test_the_version_field_is_left_out_where_the_other_side_has_none() -> None:
    peer: RpcPeer[None] = RpcPeer(jsonrpc=False)
    assert "jsonrpc" not in json.loads(peer.request("a", {}, None))
    assert json.loads(peer.notification("initialized")) == {"method": "initialized"}
    assert json.loads(peer.answer(0, {"ok": True})) == {"id": 0, "result": {"ok": True}}
    refused = json.loads(peer.refuse("x", METHOD_NOT_FOUND, "no"))
    assert refused == {"id": "x", "error": {"code": -32601, "message": "no"}}


def test_the_same_id_in_both_directions_is_no_conflict() -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    peer.request("prompt", {}, "ours")
    assert peer.receive(b'{"id":1,"method":"ask","params":{}}') == Request(1, "ask", Raw(b"{}"))
    assert peer.pending == {1: "ours"}


def test_the_state_goes_on_in_another_peer() -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    peer.request("prompt", {}, "ours")
    again: RpcPeer[str] = RpcPeer(jsonrpc=True, next_id=peer.next_id, pending=dict(peer.pending))
    assert again.receive(b'{"id":1,"result":null}') == Response(1, "ours", Raw(b"null"))
    assert json.loads(again.request("b", {}, "second"))["id"] == 2


@pytest.mark.parametrize("id", [b"1", b'"1"', b"1.0"])
def test_an_id_may_come_back_in_another_form(id: bytes) -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    peer.request("prompt", {}, "ours")
    message = peer.receive(b'{"id":' + id + b',"result":{}}')
    assert isinstance(message, Response)
    assert message.call == "ours"


def test_errors_of_any_form_are_read() -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    for error, expected in [
        (
            b'{"code":401,"message":"no key","data":{"a":1}}',
            RpcError(401, "no key", Raw(b'{"a":1}')),
        ),
        (b'{"code":"x"}', RpcError(INTERNAL_ERROR, "")),
        (b'{"code":"429","message":["x"]}', RpcError(429, "")),
        (b'"broken"', RpcError(INTERNAL_ERROR, '"broken"')),
        (b'{"message":"\xc7"}', RpcError(INTERNAL_ERROR, '{"message":"\ufffd"}')),
    ]:
        message = peer.receive(b'{"id":7,"error":' + error + b"}")
        assert isinstance(message, Response)
        assert message.error == expected
    assert peer.receive(b'{"id":7,"error":null,"result":1}') == Response(7, None, Raw(b"1"))


def test_notifications_need_no_params() -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    assert peer.receive(b'{"method":"_x/y"}') == Notification("_x/y", Raw(b"{}"))


@pytest.mark.parametrize(
    "line", [b"", b"noise", b"[1]", b"{}", b'{"id":1}', b'{"method":1}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_message_is_never_an_exception(line: bytes) -> None:
    peer: RpcPeer[str] = RpcPeer(jsonrpc=True)
    assert isinstance(peer.receive(line), Malformed)


def test_requests_that_are_never_answered_are_bounded() -> None:
    peer: RpcPeer[int] = RpcPeer(jsonrpc=True)
    for number in range(MAX_PENDING + 5):
        peer.request("x", {}, number)
    assert len(peer.pending) == MAX_PENDING
    assert min(peer.pending) == 6
