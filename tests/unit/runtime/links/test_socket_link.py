from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.errors import KeeperError
from flybridge.model.capabilities import Transport
from flybridge.runtime.keeper.client import Exit, Hello
from flybridge.runtime.keeper.keeper_program import Process, process
from flybridge.runtime.keeper.start import KeeperSpec, start_keeper
from flybridge.runtime.links.keeper_link import AgentLink
from flybridge.runtime.links.socket_link import KEPT_BYTES, SocketLink
from tests.harness.waiting import until

pytestmark = pytest.mark.needs("linux")
IDLE = "import time; time.sleep(60)"
HELLO = Hello(generation=1, secret="s", after=0)


class FakeWire:
    def __init__(self) -> None:
        self.sent: list[tuple[int, bytes]] = []
        self.reading = True
        self.closed = False

    def send(self, data: bytes, number: int) -> None:
        self.sent.append((number, data))

    def pause(self) -> None:
        self.reading = False

    def resume(self) -> None:
        self.reading = True

    def close(self) -> None:
        self.closed = True


class Heard:
    """What a session hears of its link."""

    def __init__(self) -> None:
        self.output: list[tuple[int, bytes]] = []
        self.wrote: list[int] = []
        self.exits: list[Exit] = []
        self.errors = b""
        self.lost = ""

    def on_output(self, offset: int, data: bytes) -> None:
        self.output.append((offset, data))

    def on_stderr(self, data: bytes) -> None:
        self.errors += data

    def on_wrote(self, number: int) -> None:
        self.wrote.append(number)

    def on_exit(self, exit: Exit) -> None:
        self.exits.append(exit)

    def on_lost(self, reason: str) -> None:
        self.lost = reason


class Rig:
    """A link to an idle process under a real keeper."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = str(folder / "k.sock")
        self.back: list[tuple[str, bool]] = []
        self.hears = True
        self.late = 0
        self.heard = Heard()
        self.link: SocketLink

    async def start(
        self,
        script: str = IDLE,
        *,
        met: bool = False,
        transport: Transport = "socket",
        dial_in_s: float = 60,
        settled: int = 0,
    ) -> SocketLink:
        spec = KeeperSpec(
            argv=(sys.executable, "-c", script),
            env={},
            cwd=str(self.folder),
            incarnation="inc_1",
            secret="s",
            socket=self.socket,
            pipes="none" if transport == "socket" else "stdio",
        )
        await start_keeper(spec)
        self.link = SocketLink(
            transport=transport,
            settled=settled,
            met=met,
            rejoined=self.rejoined,
            late=self.gave_up,
            dial_in_s=dial_in_s,
        )
        await self.link.connect(self.socket, HELLO, self.heard)
        return self.link

    def rejoined(self, last: str, cut: bool) -> bool:
        if self.hears:
            self.back.append((last, cut))
        return self.hears

    def gave_up(self) -> None:
        self.late += 1

    @property
    def me(self) -> Process:
        found = process(self.link.welcome.agent_pid)
        assert found is not None
        return found

    def attach(self, last: str = "") -> FakeWire:
        wire = FakeWire()
        self.link.attach(wire, self.me, last)
        return wire

    async def end(self) -> None:
        self.link.end()
        await self.link.let_go()


@pytest.fixture
async def rig(short_tmp: Path) -> AsyncIterator[Rig]:
    rig = Rig(short_tmp)
    yield rig
    await rig.end()


async def test_a_line_waits_for_the_agent_and_counts_when_it_has_arrived(rig: Rig) -> None:
    link = await rig.start()
    link.send_input(1, b"a\n")
    wire = rig.attach()
    assert wire.sent == [(1, b"a\n")]
    assert rig.heard.wrote == []
    link.took(wire, 1)
    assert rig.heard.wrote == [1]
    assert rig.back == []  # it was never here before


async def test_a_line_that_was_withdrawn_is_counted_and_not_sent(rig: Rig) -> None:
    link = await rig.start()
    wire = rig.attach()
    link.send_input(1, b"")
    await until(lambda: rig.heard.wrote == [1])
    link.send_input(2, b"two\n")
    await until(lambda: wire.sent == [(2, b"two\n")])


async def test_a_line_in_doubt_is_sent_again(rig: Rig) -> None:
    link = await rig.start()
    first = rig.attach()
    link.send_input(1, b"a\n")
    link.detached(first)
    link.took(first, 1)  # too late: nobody knows what came of it
    assert rig.heard.wrote == []
    second = rig.attach()
    assert second.sent == [(1, b"a\n")]
    link.took(second, 1)
    third = rig.attach()
    assert third.sent == []
    assert second.closed  # a connection is given up when the next is there


async def test_a_line_that_is_not_counted_waits_and_is_sent_once(rig: Rig) -> None:
    link = await rig.start()
    link.send_input(0, b"stop\n")
    assert rig.attach().sent == [(0, b"stop\n")]
    assert rig.attach().sent == []


async def test_what_was_said_is_kept_until_it_is_acknowledged(rig: Rig) -> None:
    link = await rig.start()
    wire = rig.attach()
    link.received(wire, b"one\n")
    link.received(wire, b"two\n")
    link.ack(6)
    link.close()
    link.received(wire, b"three\n")
    later = Heard()
    again = await link.connect(rig.socket, Hello(generation=1, secret="s", after=6), later)
    assert again is link
    assert b"".join(data for _, data in later.output) == b"o\nthree\n"
    assert later.output[0][0] == 6
    assert (link.welcome.out_from, link.welcome.out_to) == (6, 14)
    with pytest.raises(KeeperError):
        await link.connect(rig.socket, HELLO, later)


async def test_nothing_more_is_read_when_too_much_is_kept(rig: Rig) -> None:
    link = await rig.start()
    wire = rig.attach()
    piece = b"x" * (KEPT_BYTES // 4) + b"\n"
    for _ in range(4):
        link.received(wire, piece)
    assert not wire.reading
    link.ack(len(piece))
    assert wire.reading
    link.pause()
    assert not wire.reading
    link.resume()
    assert wire.reading


async def test_who_comes_back_says_what_was_their_last_word(rig: Rig) -> None:
    link = await rig.start()
    wire = rig.attach()
    assert rig.back == []
    link.detached(wire)
    rig.attach("u-1")
    rig.attach()
    assert rig.back == [("u-1", False), ("", False)]


async def test_that_it_is_back_is_told_later_to_who_cannot_hear_it_now(rig: Rig) -> None:
    link = await rig.start(met=True)
    rig.hears = False
    rig.attach("u-1")
    rig.hears = True
    await link.connect(rig.socket, HELLO, rig.heard)
    await until(lambda: rig.back == [("u-1", False)])


async def test_half_a_line_is_ended_and_is_a_loss(rig: Rig) -> None:
    link = await rig.start()
    wire = rig.attach()
    link.received(wire, b'{"uuid":"u-1","half')
    link.detached(wire)
    assert rig.heard.output[-1][1] == b"\n"
    rig.attach("u-1")
    assert rig.back == [("u-1", True)]


async def test_the_end_of_the_process_comes_after_its_last_words(rig: Rig) -> None:
    link = await rig.start("import os, time\nwhile not os.path.exists('end'): time.sleep(0.01)")
    wire = FakeWire()
    link._wire = wire
    (rig.folder / "end").touch()
    await until(lambda: link.over)
    assert rig.heard.exits == []
    link.received(wire, b"last\n")
    link.send_input(1, b"a\n")
    link.detached(wire)
    (told,) = rig.heard.exits
    assert (told.status, told.read_upto, told.out_to) == (0, 1, 5)  # it may have read that
    later = Heard()
    await link.connect(rig.socket, HELLO, later)
    assert len(later.exits) == 1


async def test_a_line_that_never_left_was_never_read(rig: Rig) -> None:
    link = await rig.start()
    link.send_input(1, b"a\n")
    link.send_signal(0, signal.SIGKILL)
    await until(lambda: rig.heard.exits)
    assert rig.heard.exits[0].read_upto == 0


async def test_it_is_asked_to_go_where_a_pipe_would_end(rig: Rig) -> None:
    link = await rig.start()
    link.send_eof(1)
    await until(lambda: rig.heard.exits)
    assert rig.heard.exits[0].status == -signal.SIGTERM
    assert rig.heard.wrote == [1]


async def test_one_that_never_comes_is_given_up(rig: Rig) -> None:
    await rig.start(dial_in_s=0.05)
    await until(lambda: rig.heard.exits)
    assert rig.late == 1


async def test_only_the_first_process_may_come_again(rig: Rig) -> None:
    link = await rig.start()
    before = link.processes()
    assert before is not None
    assert [one.pid for one in before] == [link.welcome.agent_pid]
    rig.attach()
    assert link.holder == (rig.me.pid, rig.me.start)


async def test_a_process_of_a_persons_own_is_watched_by_the_one_that_stands_in(rig: Rig) -> None:
    echo = "import sys; sys.stdout.write(sys.stdin.readline()); sys.stdout.flush(); input()"
    link = await rig.start(echo, transport="by_hand")
    assert link.processes() is None  # anybody
    rig.attach()
    assert link.holder is not None
    link.close()
    await link.let_go()
    later = SocketLink(
        transport="by_hand",
        settled=0,
        met=True,
        rejoined=rig.rejoined,
        late=rig.gave_up,
        dial_in_s=60,
    )
    rig.link = later
    await later.connect(rig.socket, Hello(generation=2, secret="s", after=0), rig.heard)
    await until(lambda: later.holder == link.holder)


async def test_a_keeper_that_is_gone_is_asked_again(rig: Rig) -> None:
    link = await rig.start()
    link.on_lost("gone")
    assert rig.heard.lost == "gone"
    await link.connect(rig.socket, Hello(generation=2, secret="s", after=0), rig.heard)
    assert link.welcome.agent_pid


@given(
    lines=st.lists(st.binary(min_size=1, max_size=20).filter(lambda one: b"\n" not in one)),
    sizes=st.lists(st.integers(1, 30), min_size=1),
)
def test_lines_do_not_depend_on_how_they_were_cut(lines: list[bytes], sizes: list[int]) -> None:
    asyncio.run(_cut(lines, sizes))


class _Lines:
    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def on_lines(self, lines: list[bytes], consumed: int) -> None:
        self.lines += lines

    def on_wrote(self, upto: int) -> None: ...
    def on_exit(self, exit_: Exit, rest: bytes) -> None: ...
    def on_lost(self, reason: str) -> None: ...


async def _cut(lines: list[bytes], sizes: list[int]) -> None:
    link = SocketLink(
        transport="socket",
        settled=0,
        met=False,
        rejoined=lambda last, cut: True,
        late=lambda: None,
        dial_in_s=60,
    )
    heard = _Lines()
    agent = AgentLink(heard, consumed=0, max_line=1000)
    agent.begin()
    link._events = agent
    wire = FakeWire()
    link._wire = wire
    stream, at, turn = b"".join(one + b"\n" for one in lines), 0, 0
    while at < len(stream):
        size = sizes[turn % len(sizes)]
        link.received(wire, stream[at : at + size])
        at, turn = at + size, turn + 1
    assert heard.lines == lines
