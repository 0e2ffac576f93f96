"""The WebSocket for control messages, and the same request by every way at once."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from flybridge.frontends.control.websocket import one_frame_each
from flybridge.runtime.keeper.process import start_time
from flybridge.store.teams import Member, Rule, Teams
from tests.harness.control_harness import ALLOWED, Json, Line, Steered
from tests.harness.http_harness import OWNER
from tests.harness.waiting import WAIT_S


def dial(place: Steered, path: str = "/ws/control", **who: Any) -> connect:
    uri = f"ws://127.0.0.1:{place.port}{path}"
    return connect(uri, additional_headers=place.headers(**who), compression=None, proxy=None)


async def ask(socket: ClientConnection, message: Json) -> Json:
    await socket.send(json.dumps(message))
    found: Json = json.loads(await asyncio.wait_for(socket.recv(), WAIT_S))
    return found


async def test_a_message_and_its_acknowledgement(place: Steered) -> None:
    live = await place.ready()
    token = place.token("control")
    principal = f"token:{token.partition('_')[2].partition('.')[0]}"
    robot = Member(team="default", name="robot", principal=principal)
    place.file.save(Teams(members=(robot,), rules=ALLOWED.rules))
    async with dial(place, token=token) as socket:
        ack = await ask(socket, place.message(live, sender="robot"))
        assert (ack["type"], ack["result"]) == ("control.stdin.ack", "ok")
        bad = await ask(socket, {"type": "nonsense"})
        assert bad["type"] == "control.error"
        stop = await ask(socket, place.message(live, "interrupt", sender="robot"))
        assert stop["result"] == "ok"
    assert place.lines() == ["hello"]


@pytest.mark.conforms("S2-5d")
@pytest.mark.abuse(42)
async def test_42_one_request_a_hundred_times_at_once_by_three_ways_is_one(
    place: Steered,
) -> None:
    live = await place.ready()
    cookie = place.sender()
    message = place.message(live, sender="boss")
    sockets = [await dial(place, cookie=cookie) for _ in range(33)]
    lines = [await Line.to(place.path) for _ in range(33)]

    async def post() -> Json:
        found: Json = (await place.call("POST", "/control", message, cookie=cookie)).json
        return found

    told = await asyncio.gather(
        *(post() for _ in range(34)),
        *(ask(socket, message) for socket in sockets),
        *(line.ask(message) for line in lines),
    )
    assert len(told) == 100
    assert {(one["result"], one["detail"]) for one in told} == {("ok", "started")}
    assert [one["duplicate"] for one in told].count(False) == 1
    assert place.lines() == ["hello"]
    for socket in sockets:
        await socket.close()
    for line in lines:
        line.close()


def test_messages_that_are_ready_at_once_have_a_frame_each() -> None:
    assert one_frame_each([b"{}", b"[]"]) == b"\x81\x02{}\x81\x02[]"


async def test_a_token_comes_with_the_upgrade_or_there_is_nobody(place: Steered) -> None:
    token = place.token("control")
    async with dial(place, cookie="") as socket:
        await socket.send(json.dumps({"type": "auth", "token": token}))
        with pytest.raises(ConnectionClosed) as ended:
            await socket.recv()
    assert ended.value.rcvd is not None
    assert ended.value.rcvd.code == 4401


async def test_a04_a_cookie_alone_steers_nothing(place: Steered) -> None:
    live = await place.ready()
    login = place.sender()
    message = place.message(live, sender="boss")
    for first in ({"type": "auth", "key": login.key}, message):
        async with dial(place, cookie=login.cookie) as socket:
            await socket.send(json.dumps(first))
            with pytest.raises(ConnectionClosed) as ended:
                await socket.recv()
        assert ended.value.rcvd is not None
        assert ended.value.rcvd.code == 4401
    got = await place.call("POST", "/control", message, cookie=login.cookie)
    assert (got.status, got.code) == (401, "login_incomplete")
    assert place.lines() == []


@pytest.mark.abuse(31)
@pytest.mark.parametrize("scopes", [("view", "input", "interrupt"), ("approve", "admin", "spawn")])
async def test_31_every_other_right_together_is_not_this_one(
    place: Steered, scopes: tuple[Any, ...]
) -> None:
    live = await place.ready()
    cookie = place.login(*scopes)
    message = place.message(live, sender="boss")
    async with dial(place, cookie=cookie) as socket:
        ack = await ask(socket, message)
        assert (ack["result"], ack["error"]["code"]) == ("rejected", "not_allowed")
    got = await place.call("POST", "/control", message, cookie=cookie)
    assert (got.status, got.code) == (403, "not_allowed")
    assert place.lines() == []


async def test_the_right_to_send_is_no_right_to_look(place: Steered) -> None:
    token = place.token("control")
    for path in ("/sessions", "/me", "/status"):
        assert (await place.call("GET", path, token=token)).status == 403
    async with dial(place, "/api/v1/ws", token=token) as socket:
        await socket.send('{"type":"hello","proto":1}')
        await socket.recv()
        reply = await ask(socket, {"type": "ask", "ref": "1", "name": "list"})
        assert reply["error"] == "not_allowed"


@pytest.mark.abuse(29)
async def test_29_an_agent_with_a_persons_token_sends_as_an_agent(place: Steered) -> None:
    """Whoever asks here is this very process: let it be the keeper."""
    live = await place.ready()
    cookie = place.sender()
    keepers = [(os.getpid(), start_time(os.getpid()) or "")]
    place.keepers = keepers
    place.senders.peers._keepers = lambda: keepers
    message = place.message(live, sender="boss")
    got = await place.call("POST", "/control", message, cookie=cookie)
    assert got.json["error"]["code"] == "unknown_sender"
    async with dial(place, cookie=cookie) as socket:
        assert (await ask(socket, message))["error"]["code"] == "unknown_sender"
    assert {one.principal for one in place.notes} == {f"agent:{OWNER}"}
    assert place.lines() == []


@pytest.mark.abuse(19)
async def test_19_a_revoked_token_ends_its_socket(place: Steered) -> None:
    token = place.token("control")
    async with dial(place, token=token) as socket:
        place.authority.revoke(place.authority.tokens()[0].name)
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), WAIT_S)


@pytest.mark.abuse(1)
async def test_1_a_page_of_another_site_gets_no_socket(place: Steered) -> None:
    with pytest.raises(InvalidStatus):
        await connect(
            f"ws://127.0.0.1:{place.port}/ws/control",
            additional_headers=place.headers(cookie=place.sender()),
            origin="http://evil.example",  # type: ignore[arg-type]
            proxy=None,
        )


@pytest.mark.abuse(47)
async def test_47_over_the_network_no_file_can_be_named(place: Steered) -> None:
    live = await place.ready()
    ref = {"path": "f", "size_bytes": 1, "sha256": "0" * 64, "mime": "text/plain"}
    message = place.message(live, content_ref=ref, sender="boss")
    cookie = place.sender()
    got = await place.call("POST", "/control", message, cookie=cookie)
    assert got.json["error"]["code"] == "ref_not_local"
    async with dial(place, cookie=cookie) as socket:
        assert (await ask(socket, message))["error"]["code"] == "ref_not_local"
    line = await Line.to(place.path)
    assert (await line.ask(message))["error"]["code"] == "ref_unreadable", "here it may be"
    line.close()


async def test_a_rule_changes_what_an_open_socket_may(place: Steered) -> None:
    live = await place.ready()
    async with dial(place, cookie=place.sender()) as socket:
        assert (await ask(socket, place.message(live, sender="boss")))["result"] == "ok"
        deny = Rule(effect="deny", team="default", sender="boss")
        place.file.save(msgspec.structs.replace(ALLOWED, rules=(*ALLOWED.rules, deny)))
        ack = await ask(socket, place.message(live, sender="boss"))
        assert ack["error"]["code"] == "policy_denied"
