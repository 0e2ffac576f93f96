from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from flybridge.frontends.native.adapter import speak_native
from flybridge.listeners import connection as native
from flybridge.listeners import unix
from flybridge.listeners.unix import Door
from flybridge.model import commands as c
from flybridge.model.deliveries import Stage
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import WAIT_S, until
from tests.harness.websocket_harness import welcome


class Guest:
    """A raw client: lines out, lines in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def say(self, **message: Any) -> None:
        self.writer.write(json.dumps(message).encode() + b"\n")

    async def hear(self) -> dict[str, Any]:
        line = await asyncio.wait_for(self.reader.readline(), WAIT_S)
        assert line, "hung up"
        found: dict[str, Any] = json.loads(line)
        return found

    async def hear_until(self, **wanted: Any) -> list[dict[str, Any]]:
        heard: list[dict[str, Any]] = []
        while not heard or any(heard[-1].get(key) != value for key, value in wanted.items()):
            heard.append(await self.hear())
        return heard

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


class Place:
    def __init__(self, house: House) -> None:
        self.house = house
        self.door = Door(
            house.desk,
            speak=speak_native(welcome),
            keepers=house.sessions.keepers,
            now_ms=house.services.now_ms,
        )
        self.path = str(house.folder / "door")
        self.guests: list[Guest] = []

    async def guest(self, *, hello: bool = True) -> Guest:
        guest = Guest(*await asyncio.open_unix_connection(self.path, limit=1 << 26))
        self.guests.append(guest)
        if hello:
            guest.say(type="hello", proto=1, client="test")
            assert (await guest.hear())["type"] == "welcome"
        return guest


@pytest.fixture
async def place(short_tmp: Path) -> AsyncIterator[Place]:
    place = Place(House(short_tmp))
    loop = asyncio.get_running_loop()
    server = await loop.create_unix_server(place.door.make, place.path)
    yield place
    for guest in place.guests:
        await guest.close()
    server.close()
    place.door.close()
    await until(lambda: not place.door.clients)
    await place.house.end()


async def opened(place: Place, guest: Guest, request: str = "o") -> str:
    params = {"agent": "recorder", "cwd": str(place.house.folder), "request": request}
    guest.say(type="ask", ref="open", name="open", params=params)
    session: str = (await guest.hear())["value"]["session"]
    return session


async def test_a_conversation_over_the_socket(place: Place) -> None:
    guest = await place.guest()
    session = await opened(place, guest)
    guest.say(type="attach", ref="a", session=session)
    command = {"type": "send_input", "content": [{"type": "text", "text": "hi"}]}
    guest.say(
        type="submit",
        ref="s",
        session=session,
        request="r",
        command=command,
        until="done",
        wait_ms=20000,
    )
    heard = await guest.hear_until(type="reply", ref="s")
    assert heard[-1]["stage"] == "done"
    seqs = [one["seq"] for one in heard if one["type"] == "event"]
    assert seqs == list(range(1, len(seqs) + 1))
    assert any(one["type"] == "view" for one in heard)


async def test_nothing_happens_before_hello(place: Place) -> None:
    guest = await place.guest(hello=False)
    guest.say(type="ask", ref="1", name="list")
    assert (await guest.hear())["type"] == "error"


async def test_who_says_nothing_is_shown_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix, "HELLO_S", 0.1)
    mute, polite = await place.guest(hello=False), await place.guest()
    assert await asyncio.wait_for(mute.reader.read(), WAIT_S) == b""
    polite.say(type="ask", ref="1", name="list")
    assert (await polite.hear())["value"] == {"sessions": []}


async def test_there_is_a_limit_to_guests(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix, "MAX_CLIENTS", 1)
    await place.guest()
    late = await place.guest(hello=False)
    assert (await late.hear())["message"] == "too many clients"
    assert await late.reader.read() == b""


async def test_many_requests_at_once_all_get_their_reply(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "MAX_PENDING", 4)
    guest = await place.guest()
    for number in range(50):
        guest.say(type="ask", ref=str(number), name="list")
    refs = [(await guest.hear())["ref"] for _ in range(50)]
    assert sorted(refs, key=int) == [str(number) for number in range(50)]


async def test_a_guest_that_leaves_takes_nothing_with_it(place: Place) -> None:
    house = place.house
    guest = await place.guest()
    session = await opened(place, guest)
    guest.say(type="attach", ref="a", session=session)
    await guest.hear_until(type="view")
    gate = house.folder / "gate"
    command = {
        "type": "send_input",
        "content": [{"type": "text", "text": steps({"wait_file": str(gate)}, {"say": "x"})}],
    }
    guest.say(
        type="submit",
        ref="s",
        session=session,
        request="r",
        command=command,
        until="done",
        wait_ms=20000,
    )
    live = house.sessions.get(session)  # type: ignore[arg-type]
    await until(lambda: live.memory.state.turn)
    await guest.close()
    await until(lambda: not place.door.clients)
    gate.touch()
    await until(lambda: not live.memory.state.inputs)
    assert live.memory.state.turns == 1


async def test_a_guest_that_does_not_read_is_left_where_it_is_and_catches_up(
    place: Place,
) -> None:
    guest, lazy = await place.guest(), await place.guest()
    session = await opened(place, guest)
    live = place.house.sessions.get(session)  # type: ignore[arg-type]
    lazy.say(type="attach", ref="a", session=session)
    await lazy.hear_until(type="view")
    lazy.writer.transport.pause_reading()  # type: ignore[attr-defined]
    for number in range(30):
        text = steps({"say": "x" * 60_000})
        reply = await place.house.say(live, text, f"r{number}")
        assert reply.stage is Stage.DONE
    lazy.writer.transport.resume_reading()  # type: ignore[attr-defined]
    head = live.memory.state.seq
    heard = await lazy.hear_until(type="event", seq=head)
    seqs = [one["seq"] for one in heard if one["type"] == "event"]
    assert seqs == list(range(seqs[0], head + 1))


async def test_everyone_hears_that_a_session_was_deleted(place: Place) -> None:
    guest = await place.guest()
    session = await opened(place, guest)
    guest.say(type="attach", ref="a", session=session)
    await guest.hear_until(type="view")
    live = place.house.sessions.get(session)  # type: ignore[arg-type]
    await until(lambda: live.link)
    await place.house.submit(live.session, c.Delete(), "d", Stage.DONE)
    heard = await guest.hear_until(type="detached")
    assert heard[-1]["code"] == "session_deleted"


async def test_garbage_does_not_bring_the_door_down(place: Place) -> None:
    guest = await place.guest()
    guest.writer.write(b"\x00\xff not json\n{\n" * 20)
    await asyncio.wait_for(guest.reader.read(), WAIT_S)
    other = await place.guest()
    other.say(type="ask", ref="1", name="list")
    assert (await other.hear())["ref"] == "1"
