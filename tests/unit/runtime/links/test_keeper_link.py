from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.errors import KeeperError
from flybridge.runtime.keeper.client import Exit, Hello
from flybridge.runtime.keeper.start import KeeperSpec, start_keeper
from flybridge.runtime.links.keeper_link import AgentLink
from flybridge.session.ports import Line, OutLine
from tests.harness.waiting import until

ECHO = "import sys\nfor line in sys.stdin: print('got', line, end='', flush=True)"


class Heard:
    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.wrote = 0
        self.exit: Exit | None = None
        self.rest = b""
        self.lost = ""

    def on_lines(self, lines: list[bytes], consumed: int) -> None:
        self.lines += lines
        self.consumed = consumed

    def on_wrote(self, upto: int) -> None:
        self.wrote = upto

    def on_exit(self, exit_: Exit, rest: bytes) -> None:
        self.exit, self.rest = exit_, rest

    def on_lost(self, reason: str) -> None:
        self.lost = reason


async def start(folder: Path, script: str) -> str:
    spec = KeeperSpec(
        argv=(sys.executable, "-c", script),
        env={},
        cwd=str(folder),
        incarnation="inc_1",
        secret="s",
        socket=str(folder / "k.sock"),
    )
    await start_keeper(spec)
    return spec.socket


def out(number: int, text: str) -> OutLine:
    return OutLine(number, Line(data=text.encode()))


HELLO = Hello(generation=1, secret="s", after=0)


async def test_lines_leave_in_order_when_they_may_and_come_back_whole(short_tmp: Path) -> None:
    heard = Heard()
    link = AgentLink(heard, consumed=0, max_line=1000)
    await link.connect(await start(short_tmp, ECHO), HELLO)
    link.begin()
    link.put([out(1, "a"), out(2, "b")])
    assert link.sent_upto == 0
    link.allow(1)
    await until(lambda: heard.lines == [b"got a"])
    link.allow(2)
    link.put_end(3)
    await until(lambda: heard.exit)
    assert heard.lines == [b"got a", b"got b"]
    assert (heard.wrote, heard.consumed) == (3, 12)
    link.end()
    await link.closed()


async def test_a_line_that_was_withdrawn_never_leaves_and_leaves_no_gap(short_tmp: Path) -> None:
    heard = Heard()
    link = AgentLink(heard, consumed=0, max_line=1000)
    await link.connect(await start(short_tmp, ECHO), HELLO)
    link.begin()
    link.put([out(1, "a"), out(2, "b"), out(3, "c")])
    assert link.withdraw(2)
    assert not link.withdraw(4), "there is no such line"
    link.allow(3)
    await until(lambda: heard.lines == [b"got a", b"got c"] and heard.wrote == 3)
    assert not link.withdraw(3), "it has left"
    link.put_end(4)
    await until(lambda: heard.exit)
    link.end()
    await link.closed()


async def test_what_comes_early_waits_until_the_session_is_ready(short_tmp: Path) -> None:
    heard = Heard()
    script = "import sys; sys.stderr.write('ow'); print('hi'); print('half', end='')"
    link = AgentLink(heard, consumed=0, max_line=1000)
    socket = await start(short_tmp, script)
    await link.connect(socket, HELLO)
    await until(lambda: link._waiting and len(link._waiting) >= 2)
    assert heard.lines == []
    link.begin()
    await until(lambda: heard.exit)
    assert (heard.lines, heard.rest, link.stderr_tail) == ([b"hi"], b"half", "ow")
    link.ack(3)
    link.end()
    await link.closed()


async def test_an_urgent_line_and_a_signal_need_no_number(short_tmp: Path) -> None:
    heard = Heard()
    link = AgentLink(heard, consumed=0, max_line=1000)
    await link.connect(await start(short_tmp, ECHO), HELLO)
    link.begin()
    link.urgent(b"now")
    await until(lambda: heard.lines == [b"got now"])
    link.put([out(1, "counted")])
    link.allow(1)
    await until(lambda: len(heard.lines) == 2)
    link.pause()
    link.resume()
    link.signal(9)
    await until(lambda: heard.exit)
    assert heard.exit is not None
    assert (heard.exit.status, heard.exit.read_upto) == (-9, 1)
    link.end()
    await link.closed()


async def test_a_keeper_that_is_not_there_is_an_error(short_tmp: Path) -> None:
    link = AgentLink(Heard(), consumed=0, max_line=1000)
    with pytest.raises(KeeperError):
        await link.connect(str(short_tmp / "nobody.sock"), HELLO)
    for nothing in (link.end, link.pause, link.resume, link.close):
        nothing()
    link.ack(1)
    link.urgent(b"x")
    link.signal(9)
    await link.closed()


async def test_output_from_the_wrong_place_ends_the_link(short_tmp: Path) -> None:
    heard = Heard()
    link = AgentLink(heard, consumed=5, max_line=1000)
    link.begin()
    link.on_output(7, b"x")
    assert "instead of 5" in heard.lost
