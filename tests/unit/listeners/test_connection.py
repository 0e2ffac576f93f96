from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from msgspec import Raw

from flybridge.frontends.native.adapter import speak_native
from flybridge.listeners import connection as native
from flybridge.listeners.connection import NativeClient, NativeDoor, SharedWrites
from flybridge.listeners.unix import lines
from flybridge.model.deliveries import Batch, Reply, Shown, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Request
from flybridge.runtime.dispatcher import Client
from flybridge.session.authorisation import Caller
from tests.harness.websocket_harness import EchoDesk, echo, welcome
from tests.unit.listeners.loose_transport import LooseTransport

SOMEBODY = Caller(principal="me", scopes=frozenset({"view"}))
SESSION = SessionId("s")
INTERRUPT = (
    b'{"type":"submit","ref":"i","session":"s","request":"r","command":{"type":"interrupt"}}\n'
)


class Plain(NativeClient):
    """The least a door adds."""

    allowed = True

    def hang_up(self) -> None:
        assert self.transport is not None
        self.flush()
        self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.open(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.leave()

    def may_ask(self) -> bool:
        return self.allowed


class Place:
    def __init__(self) -> None:
        self.desk = EchoDesk()
        self.changes = 0
        self.door = NativeDoor(
            self.desk,
            join=lines,
            speak=speak_native(welcome),
            now_ms=lambda: 0,
            changed=self.changed,
        )

    def changed(self) -> None:
        self.changes += 1

    def client(self, *, stuck: bool = False) -> tuple[Plain, LooseTransport]:
        client, transport = Plain(self.door), LooseTransport(stuck=stuck)
        transport.connect(client)
        client.admit(SOMEBODY)
        client.take(b'{"type":"hello","proto":1}\n')
        return client, transport


def batch(wire: bytes = b'{"type":"event"}') -> Batch:
    return Batch(session=SESSION, epoch=1, first_seq=1, count=1, wire=wire)


async def ticks(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def said(transport: LooseTransport) -> list[Any]:
    return [json.loads(line) for line in transport.written.split(b"\n") if line]


# ---- deliveries ----------------------------------------------------------------------------------


async def test_all_of_one_tick_leaves_in_one_write() -> None:
    client, transport = Place().client()
    await ticks()
    transport.writes.clear()
    client.batch(batch())
    client.shown(Shown(SESSION, None), b"1")  # type: ignore[arg-type]
    client.view(View(SESSION, 1, Raw(b"{}")), b"2")
    client.detached(SESSION, "gone")
    client.reply(Reply(ref="r"))
    await ticks()
    (written,) = transport.writes
    assert written.count(b"\n") == 5


async def test_clients_with_the_same_to_get_share_the_bytes() -> None:
    place = Place()
    pairs = [place.client() for _ in range(3)]
    await ticks()
    shared, own = batch(b"x" * 1000), b"y"
    for client, _ in pairs:
        client.batch(shared)
    pairs[2][0].view(View(SESSION, 1, Raw(b"{}")), own)
    await ticks()
    first, second, third = (transport.writes[-1] for _, transport in pairs)
    assert first is second
    assert third == shared.wire + b"\ny\n"


def test_joining_is_done_once_for_equal_lists_and_forgotten_then() -> None:
    calls: list[int] = []

    def join(ready: Any) -> bytes:
        calls.append(len(ready))
        return b"".join(ready)

    writes = SharedWrites(join)
    assert [writes.join([b"a", b"b"]), writes.join([b"a", b"b"]), writes.join([b"c"])] == [
        b"ab",
        b"ab",
        b"c",
    ]
    writes.forget()
    writes.join([b"c"])
    assert calls == [2, 1, 1]


async def test_what_would_pile_up_within_a_tick_is_written_before_its_end() -> None:
    client, transport = Place().client(stuck=True)
    for _ in range(20):
        if client.writable:
            client.batch(batch(b"x" * 100_000))
    assert not client.writable
    assert transport.get_write_buffer_size() < 700_000


async def test_nothing_is_written_to_somebody_who_left() -> None:
    place = Place()
    client, transport = place.client()
    await ticks()
    count = len(transport.writes)
    transport.abort()
    client.batch(batch())
    client.reply(Reply(ref="r"))
    await ticks()
    assert len(transport.writes) == count
    assert not client.writable
    assert place.desk.left == [client]
    assert place.changes == 2


# ---- requests ------------------------------------------------------------------------------------


async def test_asks_are_answered_one_a_tick_and_all_of_them() -> None:
    client, transport = Place().client()
    client.take(b"\n".join(echo(str(n)) for n in range(20)) + b"\n")
    await ticks(60)
    assert [one["ref"] for one in said(transport)[1:]] == [str(n) for n in range(20)]


async def test_long_answers_wait_until_the_last_one_was_taken() -> None:
    place = Place()
    client, transport = place.client(stuck=True)
    long = "x" * 1_000_000
    for n in range(5):
        client.take(echo(str(n), long if n == 0 else n) + b"\n")
    for n in range(5, 100):
        client.take(echo(str(n), "y" * 1000) + b"\n")
    await ticks(300)
    assert len(place.desk.handled) == 1
    assert transport.get_write_buffer_size() < 1_100_000
    for _ in range(100):
        transport.drain()
        await ticks()
    assert len(place.desk.handled) == 100
    assert transport.reading


async def test_an_interrupt_comes_through_from_somebody_who_does_not_read() -> None:
    place = Place()
    client, transport = place.client(stuck=True)
    client.take(echo("0", "x" * 300_000) + b"\n" + echo("1") + b"\n")
    await ticks()
    assert not client.writable
    client.take(INTERRUPT)
    await ticks()
    kinds = [type(one).__name__ for one in place.desk.handled]
    assert kinds == ["Ask", "Submit"]
    assert transport.reading


async def test_replies_that_pile_up_end_the_reading() -> None:
    client, transport = Place().client(stuck=True)
    client.take(echo("0", "x" * 300_000) + b"\n")
    await ticks()
    taken = 0
    while transport.reading and taken < 10_000:
        client.take(INTERRUPT)
        taken += 1
        await ticks(2)
    assert 100 < taken < 10_000
    assert transport.get_write_buffer_size() < 500_000
    transport.drain()
    assert transport.reading


async def test_asks_that_pile_up_end_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    client, transport = Place().client(stuck=True)
    client.take(echo("0", "x" * 300_000) + b"\n")
    await ticks()
    client.take(echo("1", "x" * 300_000) + b"\n")
    assert not transport.reading, "too long together"
    transport.drain()
    await ticks(20)
    assert transport.reading
    transport.drain()
    monkeypatch.setattr(native, "MAX_PENDING", 4)
    client.take(echo("2", "x" * 300_000) + b"\n")
    await ticks()
    client.take(b"".join(echo(str(n)) + b"\n" for n in range(4)))
    assert not transport.reading, "too many"


async def test_so_many_are_under_way_and_then_nothing_more_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(native, "MAX_PENDING", 4)
    go_on = asyncio.Event()

    class SlowDesk(EchoDesk):
        async def handle(self, client: Client, request: Request) -> None:
            await go_on.wait()
            await super().handle(client, request)

    place = Place()
    place.door.desk = SlowDesk()
    client, transport = place.client()
    client.take(b"".join(echo(str(n)) + b"\n" for n in range(9)))
    await ticks(30)
    assert not transport.reading
    go_on.set()
    await ticks(30)
    assert transport.reading
    assert len(said(transport)) == 10


async def test_who_may_ask_no_more_is_not_heard() -> None:
    place = Place()
    client, _ = place.client()
    client.take(echo("1") + b"\n")
    await ticks()
    client.allowed = False
    client.take(echo("2") + b"\n" + INTERRUPT)
    await ticks()
    assert [one.ref for one in place.desk.handled if isinstance(one, Ask)] == ["1"]
    assert len(place.desk.handled) == 1


async def test_asks_that_wait_are_forgotten_with_whoever_asked() -> None:
    place = Place()
    client, transport = place.client()
    client.take(b"".join(echo(str(n)) + b"\n" for n in range(5)))
    transport.abort()
    await ticks(20)
    assert len(place.desk.handled) <= 1


async def test_a_client_that_makes_no_sense_is_no_client() -> None:
    client, _ = Place().client()
    assert client.take(b"nonsense\n")
    assert not client.take(b"nonsense\n" * 40)


async def test_whoever_is_not_known_says_nothing() -> None:
    place = Place()
    client, transport = Plain(place.door), LooseTransport()
    transport.connect(client)
    assert client.take(echo("1") + b"\n")
    await ticks()
    assert not place.desk.handled
    assert not client.greeted
    with pytest.raises(NotImplementedError):
        NativeClient(place.door).hang_up()


async def test_a_door_that_closes_says_which_sessions_end() -> None:
    place = Place()
    client, transport = place.client()
    client.subscriptions[SESSION] = None  # type: ignore[assignment]
    place.door.close("gateway_stopped")
    assert said(transport)[-1] == {"type": "detached", "session": "s", "code": "gateway_stopped"}
    assert transport.closing
    assert not place.door.clients
