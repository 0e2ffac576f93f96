from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest

from flybridge.errors import KeeperError
from flybridge.runtime.keeper.keeper_program import Process
from flybridge.runtime.links.dial_in import DialIns
from flybridge.runtime.links.socket_link import SocketLink
from tests.unit.runtime.links.test_socket_link import FakeWire
from tests.unit.runtime.links.test_tickets import row


def new_link() -> SocketLink:
    return SocketLink(
        transport="by_hand",
        settled=0,
        met=False,
        rejoined=lambda last, cut: True,
        late=lambda: None,
        dial_in_s=60,
    )


class Door:
    def __init__(self, *ports: int) -> None:
        self.ports = list(ports)
        self.shut = 0

    async def listen(self) -> int:
        await asyncio.sleep(0)
        if not self.ports:
            raise OSError(98, "taken")
        return self.ports.pop(0)

    async def close(self) -> None:
        self.shut += 1


def dial_ins(door: Door) -> DialIns:
    return DialIns(door.listen, door.close)


async def test_the_door_is_opened_once_and_when_it_is_wanted() -> None:
    door = Door(7, 8)
    ours = dial_ins(door)
    assert ours.port == 0
    await asyncio.gather(ours.open(), ours.open())
    await ours.open()
    assert (ours.port, door.ports) == (7, [8])


async def test_no_port_is_said_in_words() -> None:
    with pytest.raises(KeeperError, match="agents cannot connect: taken"):
        await dial_ins(Door()).open()


async def test_an_agent_is_found_by_its_place_and_its_ticket() -> None:
    ours = dial_ins(Door(7))
    await ours.open()
    link = new_link()
    ours.expect(row(), "3", link)
    parts = urlsplit(ours.url(row(), "3"))
    assert (parts.scheme, parts.netloc, parts.path) == ("ws", "127.0.0.1:7", "/ws/cli/3")
    (ticket,) = parse_qs(parts.query)["ticket"]
    assert ours.find("3", ticket) is link
    assert ours.find("2", ticket) is None
    assert ours.find("3", ticket[:-1]) is None
    assert ours.find("3", "") is None
    ours.forget(row().incarnation)
    assert ours.find("3", ticket) is None


async def test_a_life_that_is_over_is_hung_up_on() -> None:
    ours = dial_ins(Door(7))
    link, wire = new_link(), FakeWire()
    ours.expect(row(), "3", link)
    link.attach(wire, Process(1, b"1 (x) S 0 1 1" + b" 0" * 20), "")
    assert ours.holders() == [(1, "0")]
    ours.forget(row().incarnation)
    ours.forget(row().incarnation)
    assert wire.closed
    assert ours.holders() == []


async def test_at_the_end_everybody_is_hung_up_on_and_the_door_is_shut() -> None:
    door = Door(7)
    ours = dial_ins(door)
    link, wire = new_link(), FakeWire()
    ours.expect(row(), "3", link)
    link.attach(wire, Process(1, b"1 (x) S 0 1 1" + b" 0" * 20), "")
    await ours.close()
    assert wire.closed
    assert door.shut == 1
