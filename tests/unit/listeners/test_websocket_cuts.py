"""Cut anywhere, over a WebSocket: a client that comes back has what one has that stayed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.client.items import Item, Reset, to_item
from flybridge.client.transcript import Transcript
from flybridge.model.deliveries import Stage
from flybridge.runtime.live_session import LiveSession
from flybridge.wire.native.messages import (
    DetachedLine,
    EventLine,
    GaugeLine,
    PreviewLine,
    ReplyLine,
    ViewLine,
    decode_gateway,
)
from tests.crash.test_slow_and_cut_clients import PIECES, held_item, open_text, pieces
from tests.harness.agent_programs import steps
from tests.harness.frames import TEXT
from tests.harness.runtime_harness import House
from tests.harness.waiting import WAIT_S, until
from tests.harness.websocket_harness import Guest, OpenDoor, opened


class CutOffError(Exception):
    """So many bytes were read, and no more."""


class Follower:
    """A client that folds what it hears, over connections of which each carries so many bytes."""

    def __init__(self, place: OpenDoor, session: str) -> None:
        self.place = place
        self.session = session
        self.transcript = Transcript()
        self.items: list[Item] = []
        self.guest: Guest | None = None
        self._rest = b""
        self._budget: int | None = None

    async def come(self, budget: int | None = None) -> None:
        await self.go()
        self.guest = await self.place.guest()
        self._rest, self._budget = b"", budget
        have = self.transcript
        attach = {"type": "attach", "ref": "a", "session": self.session}
        self.guest.say({**attach, "after": have.last_seq, "epoch": have.epoch})

    async def go(self) -> None:
        if self.guest is not None:
            await self.guest.close()
            self.guest = None

    async def read(self) -> None:
        """Take one read's worth; what is not a whole frame by then counts for nothing."""
        assert self.guest is not None
        limit = 65536 if self._budget is None else min(65536, self._budget)
        data = await asyncio.wait_for(self.guest.reader.read(limit), WAIT_S) if limit else b""
        if self._budget is not None:
            self._budget -= len(data)
        self._rest += data
        while message := self._frame():
            for line in message.split(b"\n"):
                self._fold(line)
        if not data:
            await self.go()
            raise CutOffError

    def _frame(self) -> bytes:
        """The next whole text frame, if there is one."""
        if len(self._rest) < 2:
            return b""
        size, at = self._rest[1], 2
        if size > 125:
            width = 2 if size == 126 else 8
            size, at = int.from_bytes(self._rest[2 : 2 + width], "big"), 2 + width
        if len(self._rest) < at + size:
            return b""
        assert self._rest[0] == 0x80 | TEXT
        payload, self._rest = self._rest[at : at + size], self._rest[at + size :]
        return payload

    def _fold(self, line: bytes) -> None:
        message = decode_gateway(line)
        match message:
            case EventLine() | PreviewLine() | GaugeLine() | ViewLine() | DetachedLine():
                self.items.append(to_item(message))
                self.transcript.apply(self.items[-1])
            case ReplyLine():
                if b'"reset":true' in line and self.transcript.last_seq:
                    self.transcript.apply(Reset(1))
                self.transcript.epoch = 1
            case _:
                raise AssertionError(line)

    async def follow_to(self, seq: int, budget: int | None = None) -> int:
        """Read to the end, coming back whenever it is cut off; how often that was."""
        cuts = 0
        await self.come(budget)
        while self.transcript.last_seq < seq:
            try:
                await self.read()
            except CutOffError:
                cuts += 1
                await self.come(None if cuts > 3 else budget)
        await self.go()
        return cuts


RUN = steps(
    {"think": "hm, " * 20},
    {"say": "déjà 漢字🚤 " * 30, "deltas": 40},
    {"tool": "Free", "input": {"command": "x"}, "result": "r\n" * 50},
    {"say": "and more", "deltas": 3},
    {"flood": 20_000, "whole": True},
)


class Scene:
    def __init__(self, place: OpenDoor, house: House, live: LiveSession) -> None:
        self.place = place
        self.house = house
        self.live = live

    @property
    def head(self) -> int:
        return self.live.memory.state.seq

    def follower(self) -> Follower:
        return Follower(self.place, self.live.session)


@pytest.fixture
async def scene(short_tmp: Path) -> AsyncIterator[Scene]:
    house = House(short_tmp)
    async with opened(short_tmp, house.desk) as place:
        yield Scene(place, house, await house.open())
    await house.end()


async def test_a_client_cut_at_every_event_has_the_same_transcript(scene: Scene) -> None:
    for number in range(3):
        assert (await scene.house.say(scene.live, RUN, f"r{number}")).stage is Stage.DONE
    whole = scene.follower()
    await whole.follow_to(scene.head)
    for seq in range(scene.head + 1):
        late = scene.follower()
        for item in whole.items:
            if getattr(item, "seq", seq + 1) <= seq:
                late.transcript.apply(item)
        late.transcript.epoch = 1
        await late.follow_to(scene.head)
        assert late.transcript.blocks == whole.transcript.blocks, seq
        assert late.transcript.text == whole.transcript.text


@pytest.mark.slow
async def test_a_client_cut_inside_every_frame_has_the_same_transcript(scene: Scene) -> None:
    assert (await scene.house.say(scene.live, RUN, "r")).stage is Stage.DONE
    whole = scene.follower()
    await whole.follow_to(scene.head)
    cut = 0
    for budget in (*range(0, 40), *range(40, 30_000, 211)):
        late = scene.follower()
        cut += await late.follow_to(scene.head, budget)
        assert late.transcript.blocks == whole.transcript.blocks, budget
        assert late.transcript.last_seq == scene.head
    assert cut > 150


async def test_a_client_cut_inside_an_open_item_has_every_letter_of_it(
    scene: Scene, short_tmp: Path
) -> None:
    gate, chance = short_tmp / "gate", random.Random(1)
    stayed = scene.follower()
    await stayed.come()
    said = steps(*held_item(pieces(), gate))
    assert (await scene.house.say(scene.live, said, "r", Stage.OBSERVED)).stage
    half = "".join(pieces()[: PIECES // 2])

    def has_half(transcript: Transcript) -> bool:
        block = open_text(transcript)
        return block is not None and block.text == half

    while not has_half(stayed.transcript):
        await stayed.read()
    others = [scene.follower() for _ in range(40)]
    for number, one in enumerate(others):
        await one.come(chance.randrange(6000))
        try:
            while not has_half(one.transcript):
                await one.read()
        except CutOffError:
            pass
        if number % 2:
            await one.go()
    gate.touch()
    await until(lambda: not scene.live.memory.state.turn)
    for one in (stayed, *others):
        await one.follow_to(scene.head)
        assert one.transcript.blocks == stayed.transcript.blocks
        assert one.transcript.text == "".join(pieces())
