"""The link, without a network: a transport that keeps what is written."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from flybridge.client.transport.framing import Lines
from flybridge.client.transport.link import Link
from flybridge.errors import GatewayUnreachableError, LocalProtocolError, RemoteProtocolError
from tests.harness.waiting import WAIT_S

WELCOME = b'{"type":"welcome","proto":1,"version":"1","generation":1,"principal":"me"}\n'


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.reading = True
        self.ended = ""

    def write(self, data: Any) -> None:
        self.written.append(bytes(data))

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return bool(self.ended)

    def close(self) -> None:
        self.ended = self.ended or "closed"

    def abort(self) -> None:
        self.ended = "aborted"


class Pinging(Lines):
    """Lines over something that does not tell who is gone."""

    def ping(self) -> bool:
        self.send(b"ping")
        return True


class Telling(Lines):
    """The other side says goodbye, with a last message before it."""

    def receive(self, data: bytes) -> list[bytes]:
        self.over = GatewayUnreachableError("goodbye")
        self.send(b"goodbye too")
        return super().receive(data)


async def made(framing: Lines, ping_s: float = 20.0) -> tuple[Link, Transport]:
    link, transport = Link(framing, ping_s=ping_s), Transport()
    link.connection_made(transport)
    return link, transport


async def test_what_came_with_a_goodbye_is_sorted_before_it_counts() -> None:
    link, transport = await made(Telling())
    link.data_received(WELCOME)
    assert (await link.welcome).principal == "me"
    assert isinstance(link.lost, GatewayUnreachableError)
    assert transport.ended == "closed"
    assert transport.written == [b"goodbye too\n"]
    link.connection_lost(None)


async def test_nothing_is_written_to_who_is_gone() -> None:
    link, transport = await made(Lines())
    await link.write(b"one")
    link.connection_lost(None)
    with pytest.raises(GatewayUnreachableError):
        await link.write(b"two")
    assert transport.written == [b"one\n"]


async def test_silence_is_asked_about_once_and_then_it_is_lost() -> None:
    link, transport = await made(Pinging(), ping_s=0.01)
    async with asyncio.timeout(WAIT_S):
        while link.lost is None:
            await asyncio.sleep(0.005)
    assert transport.written == [b"ping\n"]
    assert transport.ended == "aborted"
    link.connection_lost(None)


async def test_nobody_is_asked_for_a_sign_of_life_where_the_system_tells() -> None:
    link, transport = await made(Lines(), ping_s=0.001)
    await asyncio.sleep(0.02)
    assert transport.written == []
    assert link.lost is None
    link.connection_lost(None)


async def test_nonsense_ends_it_at_once() -> None:
    link, transport = await made(Lines())
    link.data_received(b"nonsense\n")
    assert isinstance(link.lost, RemoteProtocolError)
    assert transport.ended == "aborted"
    with pytest.raises(RemoteProtocolError):
        await link.welcome
    link.connection_lost(None)


async def test_a_message_that_cannot_be_sent_harms_nothing_else() -> None:
    class Narrow(Lines):
        def send(self, message: bytes) -> None:
            raise LocalProtocolError("too long")

    link, transport = await made(Narrow())
    with pytest.raises(LocalProtocolError):
        await link.write(b"x")
    assert link.lost is None
    assert transport.written == []
    link.connection_lost(None)
