from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.runtime.keeper import stand_in_program
from flybridge.runtime.keeper.process import start_time
from flybridge.runtime.keeper.stand_in_program import NO_PROCESS, NOBODY, start_of

pytestmark = pytest.mark.needs("linux")
STUBBORN = (
    "import signal,time;signal.signal(signal.SIGTERM,signal.SIG_IGN);print(1,flush=True);"
    "time.sleep(60)"
)


def stand_in(*words: str) -> subprocess.Popen[bytes]:
    program = str(Path(stand_in_program.__file__))
    return subprocess.Popen(
        [sys.executable, "-I", "-S", program, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def tell(one: subprocess.Popen[bytes], pid: int, start: str) -> None:
    assert one.stdin is not None
    one.stdin.write(f"{pid} {start}\n".encode())
    one.stdin.flush()


def hear(one: subprocess.Popen[bytes]) -> bytes:
    assert one.stdout is not None
    return one.stdout.readline()


def over(one: subprocess.Popen[bytes]) -> int:
    status = one.wait(10)
    for pipe in (one.stdin, one.stdout):
        if pipe is not None:
            pipe.close()
    return status


@pytest.fixture
def agent() -> Iterator[subprocess.Popen[bytes]]:
    made = subprocess.Popen(["sleep", "60"])
    yield made
    made.kill()
    made.wait(10)


def test_it_ends_with_the_process_it_stands_for(agent: subprocess.Popen[bytes]) -> None:
    one, start = stand_in(), start_of(agent.pid)
    assert start == start_time(agent.pid)
    tell(one, agent.pid, start)
    assert hear(one) == f"{agent.pid} {start}\n".encode()
    agent.kill()
    agent.wait(10)
    assert over(one) == 0


def test_told_to_end_it_ends_the_process(agent: subprocess.Popen[bytes]) -> None:
    one = stand_in()
    tell(one, agent.pid, start_of(agent.pid))
    hear(one)
    one.terminate()
    assert agent.wait(10) == -signal.SIGTERM
    assert over(one) == 0


def test_the_end_of_its_input_is_the_same(agent: subprocess.Popen[bytes]) -> None:
    one = stand_in()
    tell(one, agent.pid, start_of(agent.pid))
    hear(one)
    assert one.stdin is not None
    one.stdin.write(b"more\n")
    one.stdin.close()
    assert agent.wait(10) == -signal.SIGTERM
    assert over(one) == 0


def test_a_process_that_will_not_end_is_killed() -> None:
    agent = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE)
    assert agent.stdout is not None
    agent.stdout.readline()
    one = stand_in()
    tell(one, agent.pid, start_of(agent.pid))
    hear(one)
    one.terminate()
    assert agent.wait(15) == -signal.SIGKILL
    agent.stdout.close()
    assert over(one) == 0


def test_a_pid_that_means_another_process_by_now_is_left_alone(
    agent: subprocess.Popen[bytes],
) -> None:
    one = stand_in()
    tell(one, agent.pid, "1")
    assert over(one) == NO_PROCESS
    assert agent.poll() is None


@pytest.mark.parametrize("words", [b"no pid\n", b"\n", b"x" * 100, b"999999999 1\n"])
def test_nonsense_is_no_process(words: bytes) -> None:
    one = stand_in()
    assert one.stdin is not None
    one.stdin.write(words)
    one.stdin.flush()
    assert over(one) == NO_PROCESS


def test_it_does_not_wait_for_ever() -> None:
    assert over(stand_in("0.05")) == NOBODY
    closed = stand_in()
    assert closed.stdin is not None
    closed.stdin.close()
    assert over(closed) == NOBODY
    unwanted = stand_in()
    os.kill(unwanted.pid, 0)
    assert start_of(0) == ""
    unwanted.kill()
    over(unwanted)
