"""A run that is told to end before it has begun says so, once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.cli import early_signals
from flybridge.cli.runs.signals import EarlySignals, SignalledError, available
from tests.harness.agent_programs import steps
from tests.harness.run_script import Script
from tests.harness.terminal_home import Home
from tests.harness.waiting import WAIT_S

STALL = steps({"say": "working"}, {"stall": 60})


@pytest.fixture(autouse=True)
def hangups() -> Iterator[None]:
    """Let programs start with SIGHUP as at a terminal, also when the tests run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def catches(pid: int, number: signal.Signals) -> bool:
    """Whether the process has a handler of its own for a signal, as the kernel sees it."""
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def is_importing(pid: int) -> bool:
    """Whether the program has not loaded its first compiled dependency yet."""
    return "msgspec" not in Path(f"/proc/{pid}/maps").read_text()


@pytest.mark.parametrize("number", early_signals.ENDING)
def test_c09_a_signal_in_the_first_moments_gives_one_terminal_frame(
    home: Home, number: signal.Signals
) -> None:
    home.run("runs")  # a gateway is there
    script = Script(home)
    script.start(STALL, run="run_early")
    deadline = time.monotonic() + WAIT_S
    # SIGTERM: the first of the three; Python itself catches SIGINT from the start
    while not (catches(script.process.pid, signal.SIGTERM) and catches(script.process.pid, number)):
        assert script.process.poll() is None
        assert time.monotonic() < deadline
    script.kill(number)
    status, said = script.end()
    assert status == 0, said
    assert [frame["type"] for frame in script.terminal] == ["run.cancelled"]
    assert script.terminal[0]["payload"] == {"reason": number.name}
    assert script.types[-1] == "run.cancelled"
    assert script.terminal[0]["run_id"] == "run_early"
    assert "Traceback" not in said


@pytest.mark.parametrize("number", early_signals.ENDING)
def test_c09_whenever_a_signal_comes_there_is_one_end(home: Home, number: signal.Signals) -> None:
    home.run("runs")
    caught = 0
    for delay_ms in (*range(0, 120, 15), *range(120, 310, 30), *range(400, 4000, 200)):
        if delay_ms > 300 and caught > 5:
            break  # only a busy machine needs longer to start the program
        script = Script(home)
        script.start(STALL)
        time.sleep(delay_ms / 1000)  # the point in time is what is tried here
        handled = catches(script.process.pid, signal.SIGTERM) and catches(
            script.process.pid, signal.SIGHUP
        )
        script.kill(number)
        if not handled:  # it lives on if it was started with the signal ignored, as in a shell job
            script.kill(signal.SIGKILL)
        status, said = script.end()
        if handled:  # before that, not a line of ours has run
            caught += 1
            assert status == 0, (delay_ms, said)
            assert [frame["type"] for frame in script.terminal] == ["run.cancelled"], delay_ms
            assert "Traceback" not in said
    assert caught > 5


def test_c09_under_nohup_a_run_goes_on_after_a_hangup(home: Home) -> None:
    home.run("runs")
    go = home.base / "go"
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what nohup does; a program inherits it
    script = Script(home)
    deadline = time.monotonic() + WAIT_S
    while not catches(script.process.pid, signal.SIGTERM):
        assert time.monotonic() < deadline
    script.kill(signal.SIGHUP)  # while it is still being imported
    script.start(steps({"say": "working"}, {"wait_file": str(go)}))
    script.wait_for("run.started")
    script.kill(signal.SIGHUP)
    assert not catches(script.process.pid, signal.SIGHUP)
    go.touch()
    assert script.end()[0] == 0
    assert [frame["type"] for frame in script.terminal] == ["run.completed"]


def test_c09_a_run_for_people_is_cancelled_early_too(home: Home) -> None:
    home.run("runs")
    with subprocess.Popen(
        home.argv("run", "--agent", "recorder", STALL),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=home.env,
        cwd=home.work,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + WAIT_S
        while not catches(process.pid, signal.SIGTERM):
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"")
    assert said == b"flybridge: cancelled: SIGTERM\n"


def test_a_signal_before_any_run_start_cancels(home: Home) -> None:
    home.run("runs")
    script = Script(home)
    deadline = time.monotonic() + WAIT_S
    while is_importing(script.process.pid):
        assert time.monotonic() < deadline
    script.kill(signal.SIGTERM)
    assert script.end()[0] == 0
    assert script.types == ["run.cancelled"]


async def test_work_goes_on_unless_a_signal_comes() -> None:
    early = EarlySignals()
    assert await early.unless(asyncio.sleep(0, "done")) == "done"
    hanging = asyncio.ensure_future(early.unless(asyncio.sleep(60)))
    await asyncio.sleep(0)
    os.kill(os.getpid(), signal.SIGHUP)
    with pytest.raises(SignalledError, match="SIGHUP"):
        await hanging
    with pytest.raises(SignalledError):
        early.release()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_only_what_is_there_is_read() -> None:
    read, write = os.pipe()
    assert available(read) == b""
    os.write(write, b"one\ntwo")
    assert available(read) == b"one\ntwo"
    os.close(write)
    assert available(read) == b""
    os.close(read)
