from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request

from flybridge.auth.authority import ALL_SCOPES, FILE_SCOPES, Authority
from flybridge.auth.gate import Head, Refused
from flybridge.auth.login import HalfLogin, Login
from flybridge.auth.peer import TALK
from flybridge.auth.tcp_peer import Origin, TcpPeers
from flybridge.listeners import frames
from flybridge.listeners.upgrade import (
    UNSENT_BYTES,
    Room,
    authenticate,
    bad_form,
    glance,
    head_of,
    identify,
    judged,
    limit_unsent,
    problem,
    refusal,
)
from flybridge.runtime.keeper.process import start_time
from flybridge.session.authorisation import Caller
from flybridge.store.credentials import CredentialFile
from tests.harness.login import headers_for
from tests.unit.listeners.loose_transport import LooseTransport


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(CredentialFile(tmp_path / "t"), owner="me", cookie="fb", now_ms=lambda: 0)


def head(**headers: str) -> Head:
    return head_of(Request("/ws", Headers(headers)))


def test_a_head_has_every_header_in_lower_case_and_as_it_came() -> None:
    found = head_of(Request("/ws?x", Headers([("HOST", "a"), ("Host", "b"), ("X-Y", "\xe9")])))
    assert (found.method, found.target, found.upgrade) == ("GET", "/ws?x", True)
    assert found.all(b"host") == [b"a", b"b"]
    assert found.one(b"x-y") == b"\xe9"


@pytest.mark.parametrize("target", ["/", "/ws/", "/ws?token=x", "/WS", "//ws", "/%77s"])
def test_there_is_one_address_and_nothing_after_it(target: str) -> None:
    refused = bad_form(head_of(Request(target, Headers())), "/ws", 101)
    assert refused is not None
    assert refused.status == 404


def test_what_the_library_refuses_is_refused() -> None:
    assert bad_form(head(), "/ws", 101) is None
    refused = bad_form(head(), "/ws", 426)
    assert refused is not None
    assert refused.status == 426


def test_whoever_brings_nothing_is_nobody_yet(authority: Authority) -> None:
    assert identify(authority, head(), source="s") is None


def test_whoever_brings_something_good_is_known(authority: Authority) -> None:
    token = authority.create_token("t", FILE_SCOPES)
    caller = identify(authority, head(Authorization=f"Bearer {token}"), source="s")
    assert isinstance(caller, Caller)
    assert (caller.door, caller.source) == ("websocket", "s")


def test_whoever_brings_something_bad_is_refused_and_has_to_wait_after_a_while(
    authority: Authority,
) -> None:
    found = [identify(authority, head(Cookie="fb=x"), source="s") for _ in range(11)]
    assert [one.status for one in found if isinstance(one, Refused)] == [401] * 10 + [429]


@pytest.mark.parametrize(
    ("message", "known"),
    [
        (b'{"type":"auth","token":"%b"}', True),
        (b'{"type":"auth","token":"%b","scopes":["admin"]}', True),
        (b'{"type":"auth","token":"%b","key":"x"}', True),
        (b'{"type":"auth","token":"%b\xc3\xa9"}', False),
        (b'{"type":"auth","token":"\\ud800"}', False),
        (b'{"type":"auth","token":7}', False),
        (b'{"type":"auth","key":"%b"}', False),
        (b'{"type":"hello","token":"%b"}', False),
        (b'{"token":"%b"}', False),
        (b"[" * 100_000, False),
        (b"\xff", False),
        (b"", False),
    ],
)
def test_only_an_auth_message_brings_a_token(
    authority: Authority, message: bytes, known: bool
) -> None:
    token = authority.create_token("t", FILE_SCOPES).encode()
    message = message.replace(b"%b", token)
    found = authenticate(authority, None, message, source="s")
    assert isinstance(found, Caller) if known else found == frames.NOT_AUTHENTICATED


@pytest.mark.parametrize(
    "message", [b'{"type":"auth","key":"x"}', b'{"type":"auth"}', b'{"type":"hello"}', b"", b"\xff"]
)
def test_a04_a_half_login_is_completed_by_its_key_alone(
    authority: Authority, message: bytes
) -> None:
    login = authority.login(authority.ticket(), door="http", source="s")
    half = identify(authority, head(Cookie=f"fb=planted; fb={login.cookie}"), source="s")
    assert half == HalfLogin((b"planted", login.cookie.encode()))
    found = authenticate(authority, half, message, source="s")
    assert found == frames.LOGIN_INCOMPLETE
    key = b'{"type":"auth","key":"%b"}' % login.key.encode()
    caller = authenticate(authority, half, key, source="s")
    assert isinstance(caller, Caller)
    assert caller.scopes == ALL_SCOPES
    authority.logout(caller)
    assert authenticate(authority, half, key, source="s") == frames.NOT_AUTHENTICATED


def test_a04_a_wrong_key_in_the_head_of_an_upgrade_is_refused(authority: Authority) -> None:
    login = authority.login(authority.ticket(), door="http", source="s")
    given = headers_for("fb", Login(login.cookie, login.key + "x"))
    found = identify(authority, head(**given), source="s")
    assert isinstance(found, Refused)
    assert (found.status, found.code) == (401, "login_incomplete")


@pytest.mark.parametrize(
    ("known", "clients", "strangers", "status"),
    [(True, 3, 1, 503), (False, 3, 1, 503), (False, 0, 2, 429), (True, 0, 2, 0), (False, 2, 1, 0)],
)
def test_there_is_room_or_a_reason_why_not(
    known: bool, clients: int, strangers: int, status: int
) -> None:
    refused = Room(clients=4, strangers=2).full(known, clients, strangers)
    assert (refused.status if refused else 0) == status


class Wire(LooseTransport):
    """A connection whose ends are known."""

    def __init__(self, client: socket.socket) -> None:
        super().__init__()
        self.ends = {"peername": client.getsockname(), "sockname": client.getpeername()}

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.ends.get(name, default)


async def test_a_person_acts_for_themselves_and_an_agent_only_talks() -> None:
    caller = Caller(principal="me", scopes=ALL_SCOPES)
    me = os.getpid()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())
        wire = Wire(client)
        for peers in (TcpPeers(tuple), TcpPeers(lambda: [(me, "another life")])):
            found = await judged(peers, caller, wire)
            assert isinstance(found, Caller)
            assert (found.scopes, found.peer) == (ALL_SCOPES, "person")
        agents = TcpPeers(lambda: [(me, start_time(me) or "")])
        found = await judged(agents, caller, wire)
    assert isinstance(found, Caller)
    assert found.of_agent
    assert found.scopes == TALK


async def test_a_connection_without_ends_is_refused_with_any_credential() -> None:
    wire = LooseTransport()
    wire._extra = {}  # type: ignore[attr-defined]
    for scopes in (ALL_SCOPES, TALK):
        found = await judged(TcpPeers(tuple), Caller(principal="me", scopes=scopes), wire)
        assert isinstance(found, Refused)
        assert (found.status, found.code) == (403, "unknown_peer")
    assert isinstance(await judged(TcpPeers(tuple), None, wire), Refused)
    assert isinstance(glance(TcpPeers(tuple), wire), Origin)
    assert glance(TcpPeers(tuple), None) is None


def test_the_audit_log_hears_who_was_sent_away() -> None:
    who = Caller(principal="me", scopes=TALK, credential="c")
    assert refusal("revoked", "s", who).credential == "c"
    assert refusal("wrong_host", "s", None).principal == ""


def test_a_refusal_is_a_problem_in_json() -> None:
    answer = problem(Refused(421, "wrong_host", "not us"))
    top, _, body = answer.partition(b"\r\n\r\n")
    assert top.startswith(b"HTTP/1.1 421 Misdirected Request\r\n")
    assert b"Connection: close" in top
    assert f"Content-Length: {len(body)}".encode() in top
    found = json.loads(body)
    assert (found["status"], found["code"], found["detail"]) == (421, "wrong_host", "not us")


def test_the_kernel_keeps_little_for_somebody_who_does_not_read() -> None:
    with socket.socket() as one, socket.socket(socket.AF_UNIX) as other:
        limit_unsent(one)
        limit_unsent(other)
        limit_unsent(None)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            found = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT)
            assert found == UNSENT_BYTES
