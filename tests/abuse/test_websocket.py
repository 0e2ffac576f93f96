"""What a stranger, a page or a greedy client can do to the WebSocket door, by case number."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.listeners.connection import HIGH_WATER
from flybridge.listeners.upgrade import Room, Timing
from flybridge.listeners.websocket import WebSocketClient
from flybridge.model.deliveries import Stage
from flybridge.runtime.keeper.process import start_time
from flybridge.runtime.live_session import LiveSession
from tests.harness.agent_programs import steps
from tests.harness.frames import CONT, PING, frame
from tests.harness.runtime_harness import House
from tests.harness.waiting import until
from tests.harness.websocket_harness import Guest, OpenDoor, echo, opened


@pytest.fixture
async def place(short_tmp: Path) -> AsyncIterator[OpenDoor]:
    async with opened(short_tmp) as place:
        yield place


# ---- A: browser and network ----------------------------------------------------------------------

SITES = [
    "http://evil.example",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1",
    "http://127.0.0.1:5173",
    "http://127.0.0.1:{port}.evil.example",
    "http://evil.example:{port}",
    "null",
    "file://",
    "chrome-extension://abc",
]


@pytest.mark.parametrize("with_cookie", [True, False])
@pytest.mark.parametrize("site", SITES)
async def test_01_a_page_of_another_site_never_has_a_socket(
    place: OpenDoor, site: str, with_cookie: bool
) -> None:
    guest = await place.dial()
    more = place.login() if with_cookie else {}
    assert await guest.upgrade(Origin=site.format(port=place.port), **more) == 403
    assert not place.door.clients
    assert place.audited[-1].outcome == "refused"


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
async def test_01_a_browser_that_says_it_acts_for_another_site_is_believed(
    place: OpenDoor, site: str
) -> None:
    guest = await place.dial()
    assert await guest.upgrade(Sec_Fetch_Site=site, **place.login()) == 403


HOSTS = ["evil.example:{port}", "localhost.evil.com", "127.0.0.1:{port}.", "0.0.0.0:{port}"]


@pytest.mark.parametrize("host", [*HOSTS, "127.0.0.1", "[::ffff:127.0.0.1]:{port}", "a@127.0.0.1"])
async def test_02_a_name_that_is_not_ours_gets_nothing(place: OpenDoor, host: str) -> None:
    guest = await place.dial()
    status = await guest.upgrade(Host=host.format(port=place.port), **place.login())
    assert status in (400, 421)
    assert not place.door.clients


async def test_12_a_compressed_bomb_is_not_even_opened(place: OpenDoor) -> None:
    guest = await place.dial()
    offer = "permessage-deflate; server_no_context_takeover"
    assert await guest.upgrade(**place.login(), Sec_WebSocket_Extensions=offer) == 101
    assert "sec-websocket-extensions" not in guest.headers
    await guest.greet()
    guest.send(frame(b"\xaa" * 1000, rsv=4))
    assert (await guest.ending())[0] == 1002


def held(client: WebSocketClient) -> int:
    return len(client._frames.reader.buffer) + sum(map(len, client._pieces._parts))


async def test_12_what_is_announced_is_not_set_aside(place: OpenDoor) -> None:
    guest = await place.guest()
    (client,) = place.door.clients
    assert isinstance(client, WebSocketClient)
    guest.send(frame(b"some", size=2**20))
    await until(lambda: held(client))
    assert held(client) < 100
    guest = await place.guest()
    guest.send(frame(b"x", size=2**30))
    assert (await guest.ending())[0] == 1009


async def test_12_a_flood_of_small_frames_ends_at_a_bound(place: OpenDoor) -> None:
    floods = {
        1008: frame(b"x", PING) * 10_000,
        1009: frame(b"{", fin=False) + frame(b"", CONT, fin=False) * 10_000,
    }
    for code, flood in floods.items():
        guest = await place.guest()
        guest.send(flood)
        assert (await guest.ending())[0] == code


# ---- B: credentials ------------------------------------------------------------------------------


async def test_15_a_token_in_the_address_is_no_token(place: OpenDoor) -> None:
    guest = await place.dial()
    assert await guest.upgrade(target=f"/api/v1/ws?token={place.token}") == 404
    assert place.token not in str(place.audited)


async def test_17_a_thousand_who_say_nothing_are_64_at_most_and_not_for_long(
    short_tmp: Path,
) -> None:
    async with opened(short_tmp, timing=Timing(hello_s=1.0)) as place:
        statuses: list[int] = []
        most = 0

        async def never_authenticate() -> None:
            nonlocal most
            guest = await place.dial()
            statuses.append(await guest.upgrade())
            most = max(most, len(place.door.strangers))

        for _ in range(10):
            await asyncio.gather(*(never_authenticate() for _ in range(100)))
        assert most == Room().strangers == 64
        assert set(statuses) == {101, 429}
        known = await place.upgraded(**place.login())  # a login is not kept out by them
        await known.greet()
        await until(lambda: not place.door.strangers)
        await place.guest()


async def test_18_nothing_is_carried_out_before_it_is_known_for_whom(place: OpenDoor) -> None:
    hello = json.dumps({"type": "hello", "proto": 1}).encode()
    wrong = b'{"type":"auth","token":"fbt_x.y"}'
    bursts = [
        frame(echo("1")),
        frame(hello) + frame(echo("1")),
        frame(wrong + b"\n" + hello + b"\n" + echo("1")),
        frame(wrong) + frame(hello) + frame(echo("1")),
        frame(echo("1") + b"\n" + b'{"type":"auth","token":"%b"}' % place.token.encode()),
    ]
    for burst in bursts:
        guest = await place.upgraded()
        guest.send(burst)
        assert (await guest.ending())[0] == 4401
    assert place.echo.handled == []


async def test_19_a_revoked_token_is_worth_nothing_on_an_open_socket(place: OpenDoor) -> None:
    guests = [await place.guest() for _ in range(20)]
    for guest in guests[:10]:
        guest.send(frame(echo("late")))
    place.authority.revoke("test")
    assert not place.door.clients  # not within a second: at once
    endings = await asyncio.gather(*(guest.ending() for guest in guests))
    assert {code for code, _ in endings} == {4401}
    assert place.echo.handled == []


async def test_20_a_new_password_ends_every_login(place: OpenDoor) -> None:
    guest = await place.upgraded(**place.login())
    await guest.greet()
    await place.authority.set_password("correct horse")
    assert (await guest.ending())[0] == 4401


async def test_21_nobody_is_who_they_say_in_a_message(place: OpenDoor) -> None:
    guest = await place.upgraded()
    more: dict[str, Any] = {"scopes": ["admin", "approve"], "principal": "root", "role": "admin"}
    guest.say({"type": "auth", "token": place.token, **more}, {"type": "hello", "proto": 1, **more})
    heard = await guest.hear()
    assert heard["scopes"] == ["input", "interrupt", "view"]
    assert heard["principal"].startswith("token:")


# ---- C: authority --------------------------------------------------------------------------------


async def test_29_an_agent_with_a_persons_cookie_only_talks(place: OpenDoor) -> None:
    me = os.getpid()
    place.keepers.append((me, start_time(me) or ""))
    guest = await place.upgraded(**place.login())
    guest.say({"type": "hello", "proto": 1}, {"type": "ask", "ref": "1", "name": "echo"})
    heard = await guest.hear()
    assert heard["scopes"] == ["input", "interrupt", "view"]
    assert (await guest.hear())["ref"] == "1"
    (client,) = place.door.clients
    assert client.caller.of_agent


async def test_29_who_hangs_up_while_it_is_judged_leaves_nothing(place: OpenDoor) -> None:
    place.keepers.append((1, "somebody else"))
    for _ in range(20):
        guest = await place.upgraded(**place.login())
        await guest.close()
    await until(lambda: not place.door.clients and not place.door.strangers)


# ---- G: resources --------------------------------------------------------------------------------


class Crowd:
    """A session with clients at a WebSocket door."""

    def __init__(self, place: OpenDoor, house: House, live: LiveSession) -> None:
        self.place = place
        self.house = house
        self.live = live

    async def follower(self) -> Guest:
        guest = await self.place.guest()
        guest.say({"type": "attach", "ref": "a", "session": self.live.session})
        await guest.hear_until(type="view")
        return guest


@pytest.fixture
async def crowd(short_tmp: Path) -> AsyncIterator[Crowd]:
    house = House(short_tmp)
    async with opened(short_tmp, house.desk) as place:
        yield Crowd(place, house, await house.open())
    await house.end()


async def hear_up_to(guest: Guest, seq: int) -> list[int]:
    heard = await guest.hear_until(type="event", seq=seq)
    return [one["seq"] for one in heard if one["type"] == "event"]


async def test_64_who_reads_nothing_costs_little_and_slows_nobody(crowd: Crowd) -> None:
    reader, lazy = await crowd.follower(), await crowd.follower()
    clients = {one for one in crowd.place.door.clients if isinstance(one, WebSocketClient)}
    lazy.writer.transport.pause_reading()  # type: ignore[attr-defined]
    first = crowd.live.memory.state.seq + 1
    most = 0
    for number in range(150):
        said = await crowd.house.say(crowd.live, steps({"say": "x" * 60_000}), f"r{number}")
        assert said.stage is Stage.DONE
        for one in clients:
            assert one.transport is not None
            most = max(most, one.transport.get_write_buffer_size())
        await hear_up_to(reader, crowd.live.memory.state.seq)
    assert HIGH_WATER < most < 2**20
    lazy.writer.transport.resume_reading()  # type: ignore[attr-defined]
    head = crowd.live.memory.state.seq
    assert await hear_up_to(lazy, head) == list(range(first, head + 1))


async def test_64_who_reads_nothing_can_still_interrupt(crowd: Crowd, short_tmp: Path) -> None:
    lazy = await crowd.follower()
    (client,) = crowd.place.door.clients
    lazy.writer.transport.pause_reading()  # type: ignore[attr-defined]
    number = 0
    while client.writable:
        number += 1
        await crowd.house.say(crowd.live, steps({"say": "x" * 60_000}), f"r{number}")
    wait = steps({"wait_file": str(short_tmp / "never")})
    await crowd.house.say(crowd.live, wait, "long", Stage.OBSERVED)
    await until(lambda: crowd.live.memory.state.turn)
    command = {"type": "interrupt", "turn": crowd.live.memory.state.turn}
    session = crowd.live.session
    lazy.say(
        {"type": "ask", "ref": "l", "name": "list"},
        {"type": "submit", "ref": "i", "session": session, "request": "i", "command": command},
    )
    await until(lambda: not crowd.live.memory.state.turn)
    assert not client.writable


async def test_64_who_sends_and_never_reads_is_bounded_too(place: OpenDoor) -> None:
    guest = await place.guest()
    (client,) = place.door.clients
    guest.writer.transport.pause_reading()  # type: ignore[attr-defined]
    long = "x" * 50_000
    for number in range(400):
        guest.send(frame(echo(str(number), long)))
        await asyncio.sleep(0)
    assert client.transport is not None
    transport = client.transport
    await until(lambda: not client.writable and not transport.is_reading())
    assert transport.get_write_buffer_size() < 2**20
    assert len(place.echo.handled) < 400
    guest.writer.transport.resume_reading()  # type: ignore[attr-defined]
    refs = [(await guest.hear())["ref"] for _ in range(400)]
    assert refs == [str(number) for number in range(400)]
