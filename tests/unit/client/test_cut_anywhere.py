"""A recorded run, told over connections that are cut, slow, repeat themselves or mix things up.

Whoever follows it ends with the very transcript that one has who saw it undisturbed: over the
Unix socket and over a WebSocket.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.client.gateway import Address, Client
from flybridge.client.items import EventItem, to_item
from flybridge.client.transcript import Transcript
from flybridge.client.transport.tokens import Token
from flybridge.client.transport.unix import UnixAddress
from flybridge.client.transport.url import UrlAddress
from flybridge.config.state_dir import StateDir
from flybridge.wire.native.messages import EventLine, PreviewLine, decode_gateway
from tests.harness.scripted_gateway import SESSION, Peer, ScriptedGateway, serving
from tests.harness.scripted_url import TOKEN, listening
from tests.harness.waiting import WAIT_S, until
from tests.unit.client.proxy import Proxy, before_port, before_socket

Over: TypeAlias = Literal["unix", "url"]
RUN = [
    line
    for raw in (Path(__file__).parents[2] / "golden/client/run.jsonl").read_bytes().splitlines()
    if isinstance(line := decode_gateway(raw), EventLine | PreviewLine)
]
EVENTS = [line for line in RUN if isinstance(line, EventLine)]


def undisturbed() -> Transcript:
    transcript = Transcript(epoch=1)
    for line in RUN:
        transcript.apply(to_item(line))
    return transcript


WHOLE = undisturbed()


class Player:
    """Lets the run happen again, step by step, in a scripted gateway."""

    def __init__(self, gateway: ScriptedGateway) -> None:
        self.gateway = gateway
        self.at = 0

    def step(self) -> None:
        line = RUN[self.at]
        self.at += 1
        if isinstance(line, PreviewLine):
            have = self.gateway.open_texts.setdefault(line.item, [])
            del have[line.since :]
            self.gateway.grow(line.item, line.text, *[""] * (line.upto - line.since - 1))
            return
        event = msgspec.json.decode(line.event)
        if event["type"] in ("text.done", "thinking.done", "tool.started", "tool.result"):
            self.gateway.open_texts.pop(event["item"], None)
        self.gateway.publish_raw(bytes(line.event))

    @property
    def over(self) -> bool:
        return self.at == len(RUN)


class Rig:
    """A gateway, a proxy before it, and a client behind that."""

    def __init__(self, gateway: ScriptedGateway, proxy: Proxy, client: Client) -> None:
        self.gateway = gateway
        self.proxy = proxy
        self.client = client
        self.player = Player(gateway)
        self.transcript = Transcript(epoch=1)
        self.seqs: list[int] = []

    async def follow(self, lag: Callable[[], bool] = lambda: False) -> None:
        """Fold all that comes, until the whole run has come."""
        async with self.client.watch(SESSION) as items, asyncio.timeout(WAIT_S):
            async for item in items:
                self.transcript.apply(item)
                if isinstance(item, EventItem):
                    self.seqs.append(item.seq)
                if self.transcript.last_seq == len(EVENTS):
                    return
                if lag():
                    await asyncio.sleep(0)

    def check(self) -> None:
        assert self.seqs == list(range(1, len(EVENTS) + 1)), "one is missing, or came twice"
        assert self.transcript == WHOLE
        for key, block in WHOLE.blocks.items():
            assert self.transcript.blocks[key].text.encode() == block.text.encode()


@asynccontextmanager
async def rigged(folder: Path, over: Over) -> AsyncIterator[Rig]:
    address: Address
    async with serving(StateDir(folder / "s")) as gateway:
        if over == "unix":
            async with before_socket(StateDir(folder / "p"), gateway.state) as proxy:
                address = UnixAddress(StateDir(folder / "p"))
                async with Client(address) as client:
                    yield Rig(gateway, proxy, client)
            return
        async with listening(gateway) as door, before_port(door.port) as (proxy, port):
            address = UrlAddress(f"http://127.0.0.1:{port}", Token(TOKEN))
            async with Client(address) as client:
                yield Rig(gateway, proxy, client)


def attached(rig: Rig) -> bool:
    return any(peer.attached for peer in rig.gateway.peers)


async def play(rig: Rig, cut_at: int, inside: bool) -> None:
    """Follow the run; the connection is cut after one step of it, or in the middle of its line."""
    following = asyncio.create_task(rig.follow())
    await until(lambda: attached(rig))
    while not rig.player.over:
        if rig.player.at == cut_at and inside:
            for peer in rig.gateway.peers:
                peer.budget = 20  # of the bytes that tell the next step
        rig.player.step()
        if rig.player.at == cut_at + 1:
            await asyncio.sleep(0)
            rig.proxy.cut()
        if rig.player.at % 16 == 0:
            await asyncio.sleep(0)
    await following


@pytest.mark.parametrize("over", ["unix", "url"])
async def test_cut_at_every_event_and_inside_every_item(short_tmp: Path, over: Over) -> None:
    for cut_at in range(len(RUN)):
        folder = short_tmp / str(cut_at)
        folder.mkdir(mode=0o700)
        async with rigged(folder, over) as rig:
            await play(rig, cut_at, inside=cut_at % 2 == 0)
            rig.check()
            assert rig.proxy.connections >= 2 or cut_at >= len(RUN) - 16


class Mischief:
    """Repeats messages of a session, and holds some back until after the next one."""

    def __init__(self, chance: random.Random, incidents: int) -> None:
        self._chance = chance
        self._left = incidents
        self._held: list[bytes] = []

    def frame(self, peer: Peer) -> None:
        """From here on this peer is told things that way."""
        honest = peer.frame
        peer.frame = lambda messages: honest(list(self._twisted(messages)))

    def _twisted(self, messages: Sequence[bytes]) -> Sequence[bytes]:
        told: list[bytes] = []
        for message in (one for many in messages for one in many.split(b"\n")):
            twist = self._chance.randrange(6) if self._left and b'"ref"' not in message else 5
            if twist == 0:  # said twice
                told += [message, message]
            elif twist == 1 and not self._held:  # said late
                self._held.append(message)
                continue
            else:
                told.append(message)
            if twist < 2:
                self._left -= 1
            told += self._held
            self._held.clear()
        return told or [b'{"type":"silence"}']


@pytest.mark.parametrize("over", ["unix", "url"])
@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32),
    budgets=st.lists(st.integers(0, 20_000), max_size=4),
    chunk=st.sampled_from([1, 7, 100, 65536]),
    incidents=st.integers(0, 6),
    batch=st.integers(1, 5),
)
def test_however_it_is_cut_slowed_repeated_and_mixed_up(
    tmp_path_factory: pytest.TempPathFactory,
    over: Over,
    seed: int,
    budgets: list[int],
    chunk: int,
    incidents: int,
    batch: int,
) -> None:
    chance = random.Random(seed)

    async def run() -> None:
        async with rigged(tmp_path_factory.mktemp("r", numbered=True), over) as rig:
            rig.proxy.budgets, rig.proxy.chunk = budgets, chunk
            rig.gateway.batch = batch
            mischief = Mischief(chance, incidents)
            following = asyncio.create_task(rig.follow(lambda: chance.random() < 0.2))
            twisted: set[int] = set()
            while not rig.player.over or not following.done():
                for peer in rig.gateway.peers:
                    if id(peer) not in twisted and peer.attached:
                        twisted.add(id(peer))
                        mischief.frame(peer)
                if not rig.player.over:
                    rig.player.step()
                if chance.random() < 0.3 or rig.player.over:
                    await asyncio.sleep(0.001 if rig.player.over else 0)
            await following
            rig.check()

    asyncio.run(run())
