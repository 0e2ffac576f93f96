from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flybridge.cli.doctor.gateway import check_gateway, check_keepers, lock_holder
from flybridge.cli.doctor.text import Check
from flybridge.config.state_dir import StateDir

pytestmark = pytest.mark.needs("linux")
ABSENT = Check(area="gateway", text="none runs")


@pytest.fixture
def state(short_tmp: Path) -> StateDir:
    state = StateDir(short_tmp / "s")
    state.prepare()
    return state


@pytest.fixture
def locked(state: StateDir) -> Iterator[StateDir]:
    with state.lock.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield state


def test_the_kernel_names_who_holds_a_lock(locked: StateDir) -> None:
    assert lock_holder(locked.lock) == os.getpid()


def test_a_lock_file_that_nobody_holds_is_free(state: StateDir) -> None:
    assert lock_holder(state.lock) is None
    state.lock.touch()
    assert lock_holder(state.lock) is None


async def test_no_gateway_is_no_problem(state: StateDir) -> None:
    check = await check_gateway(state)
    assert (check.status, check.data) == ("ok", {"stale_socket": False})


async def test_a_directory_that_is_not_there_has_no_gateway(short_tmp: Path) -> None:
    check = await check_gateway(StateDir(short_tmp / "nowhere"))
    assert check.status == "ok"
    assert not (short_tmp / "nowhere").exists()


async def test_a_socket_without_a_listener_is_left_over(state: StateDir) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as gone:
        gone.bind(str(state.socket))
    check = await check_gateway(state)
    assert (check.status, check.data) == ("note", {"stale_socket": True})
    assert state.socket.exists()


async def test_one_that_holds_the_lock_and_has_no_door_is_a_problem(locked: StateDir) -> None:
    check = await check_gateway(locked)
    assert check.status == "problem"
    assert check.data == {"pid": os.getpid()}


def test_keepers_are_counted_without_being_disturbed(state: StateDir) -> None:
    assert check_keepers(state, ABSENT).text == "none"
    state.keepers.mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as living:
        living.bind(str(state.keepers / "inc_1.sock"))
        living.listen()
        with closing(socket.socket(socket.AF_UNIX)) as dead:
            dead.bind(str(state.keepers / "inc_2.sock"))
        check = check_keepers(state, ABSENT)
        assert check.data == {"living": 1, "dead": 1}
        assert check.text.startswith("1 holds an agent without a gateway; the next one finds it")
        assert check.text.endswith("socket files left over: 1, harmless")
        running = Check(area="gateway", text="answers", data={"pid": 1})
        assert check_keepers(state, running).text.startswith("1 holds an agent;")
