"""The corpus, over a real socket: every answer to the byte, and the code of every end."""

from __future__ import annotations

import asyncio
import struct

import pytest

from tests.harness.frames import CLOSE, PING, PONG, frame
from tests.harness.websocket_harness import Guest, OpenDoor
from tests.unit.listeners.websocket_corpus import SECTIONS, Case

CASES = [
    pytest.param(case, id=f"{number}: {name}")
    for number, cases in SECTIONS.items()
    for name, case in cases.items()
]


async def write(guest: Guest, case: Case) -> None:
    """Each write arrives by itself: both ends are in this loop, and take turns."""
    for data in case.sends:
        guest.send(data)
        await guest.writer.drain()
        await asyncio.sleep(0)


@pytest.mark.parametrize("case", CASES)
async def test_every_frame_has_the_answer_it_should(place: OpenDoor, case: Case) -> None:
    guest = await place.guest()
    writing = asyncio.ensure_future(write(guest, case))
    for answer in case.answers:
        assert await guest.next_frame() == answer
    guest.send(case.then)
    if case.code is None:
        await writing
        guest.send(frame(b"still there", PING))
        assert await guest.next_frame() == (PONG, b"still there")
        return
    opcode, payload = await guest.next_frame()
    assert opcode == CLOSE
    assert payload == b"" if case.code == 1005 else payload[:2] == struct.pack("!H", case.code)
    if case.reason is not None:
        assert payload[2:] == case.reason
    assert len(payload) <= 125
    assert await guest.gone() == b"", "words after the last one"
    writing.cancel()


def test_there_are_cases_of_every_kind() -> None:
    assert list(SECTIONS) == list("1234567")
    assert all(len(cases) > 10 for cases in SECTIONS.values())
