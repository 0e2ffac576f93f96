"""The gateway's side: starting keepers, and links to real ones."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flybridge.runtime.keeper import keeper_program as program
from flybridge.runtime.keeper.client import (
    Exit,
    Hello,
    KeeperLink,
    KeeperRefusedError,
    KeeperUnreachableError,
)
from flybridge.runtime.keeper.process import boot_id, fence
from tests.harness.keeper_bench import SECRET, py, sh
from tests.harness.keepers import Heard, Keepers, reaped
from tests.harness.processes import is_gone
from tests.harness.waiting import WAIT_S


async def test_a_line_goes_out_and_comes_back(keepers: Keepers) -> None:
    link, heard = await keepers.link(await keepers.start(sh("cat; echo oops >&2; exit 4")))
    link.send_input(1, b"hello\n")
    await heard.until(lambda: heard.wrote == 1 and heard.output == b"hello\n")
    link.ack(6)
    link.send_eof(2)
    await heard.until(lambda: heard.exit)
    assert heard.exit == Exit(status=4, unread_bytes=0, read_upto=2, out_to=6)
    assert heard.stderr == b"oops\n"


async def test_what_is_kept_for_the_next_gateway_has_a_bound(keepers: Keepers) -> None:
    spec = await keepers.start(["/bin/cat"])
    link, heard = await keepers.link(spec)
    link.keep(b"a word")
    link.keep(b"x" * (program.BODY_BYTES + 1))  # too much to be kept: what was there stays
    link.send_input(1, b"hello\n")
    await heard.until(lambda: heard.output == b"hello\n")
    link.close()
    again, _ = await keepers.link(spec, generation=2)
    assert again.welcome.kept == "a word"


async def test_a_signal_ends_an_agent(keepers: Keepers) -> None:
    link, heard = await keepers.link(await keepers.start(["/bin/cat"]))
    link.send_signal(1, signal.SIGTERM)
    await heard.until(lambda: heard.exit)
    assert heard.exit is not None
    assert heard.exit.status == -15


async def test_megabytes_go_both_ways(keepers: Keepers) -> None:
    link, heard = await keepers.link(await keepers.start(["/bin/cat"]))
    line = bytes(range(11, 251)) * 2**15 + b"\n"
    link.send_input(1, line)
    await heard.until(lambda: len(heard.output) == len(line))
    assert heard.output == line
    assert heard.calls < len(line) / 4096
    await heard.until(lambda: heard.wrote == 1)


async def test_a_paused_link_hears_nothing_and_misses_nothing(keepers: Keepers) -> None:
    spec = await keepers.start(py("import os\nfor _ in range(512): os.write(1, b'x' * 4096)"))
    link, heard = await keepers.link(spec)
    link.pause()
    (started,) = keepers.started
    async with asyncio.timeout(WAIT_S):
        while not is_gone(started.agent_pid):
            await asyncio.sleep(0.005)
    assert heard.exit is None
    link.resume()
    await heard.until(lambda: heard.exit)
    assert len(heard.output) == 2**21


async def test_after_end_nothing_is_left_and_nothing_is_lost(keepers: Keepers) -> None:
    link, heard = await keepers.link(await keepers.start(["/bin/cat"]))
    link.end()
    await link.wait_closed()
    (started,) = keepers.started
    await reaped(started.pid)  # gone, and no zombie of ours either
    assert is_gone(started.agent_pid)
    assert list(keepers.folder.iterdir()) == []
    assert heard.lost == ""


async def test_after_close_nothing_is_heard_and_the_agent_works_on(keepers: Keepers) -> None:
    spec = await keepers.start(sh("while read x; do echo $x; done"))
    link, heard = await keepers.link(spec)
    link.send_input(1, b"one\n")
    await heard.until(lambda: heard.output == b"one\n")
    link.close()
    await link.wait_closed()
    link.send_input(2, b"into the void\n")
    again, heard_again = await keepers.link(spec, after=4)
    assert (again.welcome.took, again.welcome.out_to) == (1, 4)
    again.send_input(2, b"two\n")
    await heard_again.until(lambda: heard_again.output == b"two\n")
    assert (heard.output, heard.lost) == (b"one\n", "")


async def test_a_killed_keeper_is_heard_of_once(keepers: Keepers) -> None:
    link, heard = await keepers.link(await keepers.start(["/bin/cat"]))
    os.kill(keepers.started[0].pid, signal.SIGKILL)
    await heard.until(lambda: heard.lost)
    await link.wait_closed()
    link.ack(0)
    link.pause()
    link.resume()
    link.close()


async def test_a_superseded_gateway_loses_its_link(keepers: Keepers) -> None:
    spec = await keepers.start(["/bin/cat"])
    _, old = await keepers.link(spec, generation=1)
    await keepers.link(spec, generation=2)
    await old.until(lambda: old.lost)


async def test_a_refusal_carries_the_keepers_code(keepers: Keepers) -> None:
    spec = await keepers.start(["/bin/cat"])
    link, heard = await keepers.link(spec, generation=2)
    for changed, code in (
        ({"generation": 1}, "stale_generation"),
        ({"generation": 3, "secret": "guess"}, "not_allowed"),
        ({"generation": 3, "after": 1}, "output_ahead"),
    ):
        with pytest.raises(KeeperRefusedError, match=code) as caught:
            await keepers.link(spec, **changed)
        assert caught.value.refusal.code == code
    await heard.until(lambda: heard.lost)  # generation 3 was right, only its offset was not
    await link.wait_closed()


async def test_a_refusal_on_the_way_is_the_reason_of_the_loss(keepers: Keepers) -> None:
    link, heard = await keepers.link(await keepers.start(["/bin/cat"]))
    link.send_input(7, b"gap\n")
    await heard.until(lambda: heard.lost)
    assert heard.lost.startswith("gap: ")


async def test_where_nobody_listens_the_keeper_is_gone(keepers: Keepers) -> None:
    spec = await keepers.start(["/bin/cat"])
    (started,) = keepers.started
    os.kill(started.pid, signal.SIGKILL)
    await reaped(started.pid)
    assert [one.name for one in keepers.folder.iterdir()] == ["1.sock"]  # nobody removed it
    for socket in (spec.socket, str(keepers.folder / "none.sock"), "/no/such/folder/k.sock"):
        with pytest.raises(KeeperUnreachableError) as caught:
            await KeeperLink.connect(socket, Hello(generation=1, secret="", after=0), Heard())
        assert (caught.value.code, caught.value.why) == ("keeper_unreachable", "gone")


async def test_a_keeper_that_does_not_answer_is_a_timeout(keepers: Keepers) -> None:
    spec = await keepers.start(["/bin/cat"])
    os.kill(keepers.started[0].pid, signal.SIGSTOP)
    hello = Hello(generation=1, secret=SECRET, after=0)
    with pytest.raises(KeeperUnreachableError) as caught:
        await KeeperLink.connect(spec.socket, hello, Heard(), timeout_s=0.1)
    assert caught.value.why == "timeout"


async def test_a_line_longer_than_a_line_may_be_is_refused_here(keepers: Keepers) -> None:
    link, _ = await keepers.link(await keepers.start(["/bin/cat"]))
    with pytest.raises(ValueError, match="a line of"):
        link.send_input(1, bytes(program.INPUT_BYTES + 1))


async def test_a_reboot_can_be_played(keepers: Keepers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYBRIDGE_BOOT_ID", "another-boot")
    link, _ = await keepers.link(await keepers.start(["/bin/cat"]))
    assert link.welcome.boot == boot_id() == "another-boot"


async def test_what_a_dead_keepers_agent_left_behind_is_fenced(keepers: Keepers) -> None:
    spec = await keepers.start(sh("setsid sleep 1000 & echo $!; exec cat"))
    link, heard = await keepers.link(spec)
    await heard.until(lambda: heard.output.endswith(b"\n"))
    stray = int(heard.output)
    os.kill(keepers.started[0].pid, signal.SIGKILL)
    await heard.until(lambda: heard.lost)
    assert not is_gone(stray)
    welcome = link.welcome
    assert await fence(
        group=welcome.agent_pid,
        start=welcome.agent_start,
        boot=welcome.boot,
        marker=(program.MARKER, spec.incarnation),
        timeout_s=WAIT_S,
    )
    assert is_gone(stray)
    assert is_gone(welcome.agent_pid)


# ---- frames, however they are cut ---------------------------------------------------------------


def heard_of(stream: bytes, sizes: list[int]) -> Heard:
    """Feed a keeper's bytes to a link in pieces of these sizes."""

    async def feed() -> Heard:
        heard = Heard()
        link = KeeperLink("nowhere", Hello(generation=1, secret="", after=0), heard)
        at, turn = 0, 0
        while at < len(stream):
            size = sizes[turn % len(sizes)]
            piece = stream[at : at + size]
            link.get_buffer(-1)[: len(piece)] = piece
            link.buffer_updated(len(piece))
            at, turn = at + size, turn + 1
        return heard

    return asyncio.run(feed())


frames = st.lists(
    st.one_of(
        st.binary(max_size=40).map(lambda data: (program.OUT, data)),
        st.binary(max_size=40).map(lambda data: (program.ERR, data)),
        st.integers(0, 2**60).map(lambda number: (program.WROTE, number)),
    ),
    max_size=12,
)


@given(sent=frames, sizes=st.lists(st.integers(1, 60), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_what_is_heard_does_not_depend_on_how_reads_were_split(
    sent: list[tuple[int, Any]], sizes: list[int]
) -> None:
    stream, output, stderr, wrote = b"", b"", b"", 0
    for kind, value in sent:
        if kind == program.OUT:
            stream += program.frame(kind, len(output), value)
            output += value
        elif kind == program.ERR:
            stream += program.frame(kind, len(stderr), value)
            stderr += value
        else:
            stream += program.frame(kind, value)
            wrote = value
    over = Exit(status=0, unread_bytes=0, read_upto=0, out_to=len(output))
    stream += program.frame(program.EXIT, 0, msgspec.json.encode(over))
    heard = heard_of(stream, sizes)
    assert (heard.output, heard.stderr, heard.wrote) == (output, stderr, wrote)
    assert heard.exit == over


def test_all_output_of_one_read_comes_in_one_call() -> None:
    stream = b"".join(program.frame(program.OUT, n * 3, b"abc") for n in range(100))
    heard = heard_of(stream, [len(stream)])
    assert (heard.output, heard.calls) == (b"abc" * 100, 1)


@pytest.mark.parametrize(
    "stream",
    [
        program.frame(99, 0, b"x"),
        program.FRAME.pack(program.EXIT, 0, 2**30) + b"x" * 100,
        program.frame(program.EXIT, 0, b'{"status": "fine"}'),
        program.frame(program.WELCOME, 0, b"\xff"),
    ],
)
def test_a_keeper_that_talks_nonsense_is_not_believed(stream: bytes) -> None:
    heard = heard_of(stream, [7])
    assert heard.exit is None
    assert heard.output == b""
