"""Who lives, who descends from whom, and who is killed when a keeper is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from flybridge.runtime.keeper.process import (
    alive,
    ancestors,
    boot_id,
    descends_from,
    fence,
    start_time,
)
from tests.harness.processes import is_gone
from tests.harness.waiting import wait_until

MARK = f"inc_fence_{os.getpid()}"
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start small processes that do not outlive the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(*argv: str, mark: str = "", **more: bool) -> subprocess.Popen[bytes]:
        env = {"PATH": os.environ["PATH"], **({"MARK": mark} if mark else {})}
        started.append(subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, **more))  # type: ignore[call-overload]
        return started[-1]

    yield begin
    for one in started:
        one.kill()
        one.wait()
        if one.stdout is not None:
            one.stdout.close()


def sleeper(start: Start, **more: object) -> subprocess.Popen[bytes]:
    """Start a process that is past its exec: its environment is the one it was given."""
    one = start("/bin/sh", "-c", "echo up; exec sleep 1000", **more)
    assert one.stdout is not None
    assert one.stdout.readline() == b"up\n"
    return one


async def fenced(group: int = 0, started: str = "", boot: str = "", mark: str = "none") -> bool:
    return await fence(
        group=group, start=started, boot=boot or boot_id(), marker=("MARK", mark), timeout_s=20
    )


def test_the_boot_id_is_the_kernels_unless_a_test_says_otherwise() -> None:
    kernels = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert boot_id({}) == kernels
    assert boot_id({"FLYBRIDGE_BOOT_ID": "b2"}) == "b2"


def test_a_process_is_known_by_pid_and_start_time(start: Start) -> None:
    pid = sleeper(start).pid
    started = start_time(pid)
    assert started is not None
    assert alive(pid, started)
    assert not alive(pid, started + "0")


def test_a_name_full_of_brackets_fools_nobody(tmp_path: Path, start: Start) -> None:
    program = tmp_path / ") Z 1 1 (x"
    program.symlink_to("/bin/sleep")
    one = start(str(program), "1000")
    wait_until(lambda: ") Z 1" in Path(f"/proc/{one.pid}/comm").read_text())
    assert alive(one.pid, start_time(one.pid) or "")
    assert ancestors(one.pid)[0] == os.getpid()


def test_a_zombie_is_dead(start: Start) -> None:
    one = sleeper(start)
    started = start_time(one.pid) or ""
    one.kill()
    wait_until(lambda: not alive(one.pid, started))
    assert start_time(one.pid) == started  # nobody has reaped it
    one.wait()
    assert start_time(one.pid) is None


def test_ancestors_lead_up_to_init(start: Start) -> None:
    above = ancestors(sleeper(start).pid)
    assert above[0] == os.getpid()
    assert above[1] == os.getppid()
    assert above[-1] == 1
    assert ancestors(2**22 + 1) == []


def test_a_descendant_is_told_by_pid_and_start(start: Start) -> None:
    pid = sleeper(start).pid
    me = (os.getpid(), start_time(os.getpid()) or "")
    assert descends_from(pid, [me])
    assert descends_from(pid, [(pid, start_time(pid) or "")])
    assert not descends_from(pid, [(me[0], "0")])
    assert not descends_from(pid, [])
    assert not descends_from(os.getpid(), [(pid, start_time(pid) or "")])


def test_whoever_is_gone_counts_as_a_descendant(start: Start) -> None:
    one = sleeper(start)
    one.kill()
    one.wait()
    assert descends_from(one.pid, [])


async def test_a_fence_kills_the_recorded_leader_and_its_group(start: Start) -> None:
    script = "sleep 1000 & echo $!; wait"
    one = start("/bin/sh", "-c", script, start_new_session=True)
    assert one.stdout is not None
    child = int(one.stdout.readline())
    assert await fenced(one.pid, start_time(one.pid) or "")
    assert is_gone(one.pid)
    assert is_gone(child)


async def test_a_fence_kills_what_carries_the_mark_wherever_it_went(start: Start) -> None:
    script = (
        "import os, signal\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "os.write(1, b'%d\\n' % os.getpid())\n"
        "while True: signal.pause()\n"
    )
    one = start(sys.executable, "-I", "-S", "-c", script, mark=MARK)
    assert one.stdout is not None
    stray = int(one.stdout.readline())
    stranger = sleeper(start, mark=f"{MARK}_2")
    assert await fenced(mark=MARK)
    assert is_gone(stray)
    assert not is_gone(stranger.pid)


async def test_a_fence_never_touches_a_stranger(start: Start) -> None:
    stranger = sleeper(start, start_new_session=True)
    started = start_time(stranger.pid) or ""
    assert await fenced(stranger.pid, "1")  # the pid was reused
    assert await fenced(stranger.pid, started, boot="another boot")
    assert not is_gone(stranger.pid)


def test_a_fence_spares_whoever_builds_it(start: Start) -> None:
    script = (
        "import asyncio, os\n"
        "from flybridge.runtime.keeper.process import boot_id, fence, start_time\n"
        "me = os.getpid()\n"
        "print(asyncio.run(fence(group=me, start=start_time(me), boot=boot_id(),\n"
        "                        marker=('MARK', os.environ['MARK']), timeout_s=5)))\n"
    )
    one = start(sys.executable, "-c", script, mark=f"{MARK}_self", start_new_session=True)
    assert one.stdout is not None
    assert one.stdout.read() == b"True\n"
    assert one.wait() == 0


async def test_a_fence_says_when_something_will_not_go(start: Start) -> None:
    one = sleeper(start, mark=f"{MARK}_slow")
    boot = boot_id()
    assert not await fence(
        group=0, start="", boot=boot, marker=("MARK", f"{MARK}_slow"), timeout_s=0
    )
    wait_until(lambda: one.poll() == -signal.SIGKILL)
