from __future__ import annotations

import os
import pty
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flybridge.auth.peer import ALL, OPEN, TALK, caller_of, has_terminal, is_keeper
from flybridge.runtime.keeper.keeper_program import lineage, process
from flybridge.runtime.keeper.process import start_time

DIAL = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
sys.stdin.read()
"""


@pytest.fixture
def listener(short_tmp: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(short_tmp / "s"))
        listening.listen()
        yield listening


def dial(listener: socket.socket, **more: object) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", DIAL, listener.getsockname()]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, **more)  # type: ignore[call-overload,no-any-return]


def end(child: subprocess.Popen[bytes]) -> None:
    child.communicate()


def test_a_program_may_open_sessions_but_not_approve(listener: socket.socket) -> None:
    child = dial(listener, start_new_session=True)
    with listener.accept()[0] as connection:
        caller = caller_of(connection, [])
        end(child)
    assert (caller.scopes, caller.of_agent) == (OPEN, False)
    assert caller.principal == f"uid:{os.getuid()}"
    assert caller.process.startswith(f"{child.pid}:")


def test_a_descendant_of_a_keeper_may_only_talk(listener: socket.socket) -> None:
    me = os.getpid()
    child = dial(listener, start_new_session=True)
    with listener.accept()[0] as connection:
        caller = caller_of(connection, [(me, start_time(me) or "")])
        end(child)
    assert (caller.scopes, caller.of_agent) == (TALK, True)


def test_a_keeper_of_that_pid_in_another_life_means_nothing(listener: socket.socket) -> None:
    child = dial(listener, start_new_session=True)
    with listener.accept()[0] as connection:
        caller = caller_of(connection, [(os.getpid(), "another start")])
        end(child)
    assert not caller.of_agent


def test_a_peer_that_is_gone_already_counts_as_an_agent(listener: socket.socket) -> None:
    child = dial(listener, start_new_session=True)
    with listener.accept()[0] as connection:
        end(child)
        assert caller_of(connection, []).scopes == TALK


# Connects and ends; a program with a terminal gets its pid; then the connection is judged. The
# pid namespace is our own, so that the next pid can be chosen.
REUSED_PID = """
import os, pty, socket, sys
from pathlib import Path
from flybridge.auth.peer import caller_of
path = sys.argv[1]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
pid = os.fork()
if pid == 0:
    socket.socket(socket.AF_UNIX).connect(path)
    os._exit(0)
os.waitpid(pid, 0)
connection = listener.accept()[0]
Path("/proc/sys/kernel/ns_last_pid").write_text(str(pid - 1))
person, terminal = pty.fork()
if person == 0:
    os.execvp("sleep", ["sleep", "60"])
assert person == pid, (person, pid)
print(sorted(caller_of(connection, []).scopes))
os.kill(person, 9)
os.waitpid(person, 0)
"""


@pytest.mark.needs("userns", "peer-pidfd")
def test_a05_a_pid_that_a_person_got_since_is_not_the_peer(short_tmp: Path) -> None:
    own_pids = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    done = subprocess.run(
        [*own_pids, sys.executable, "-c", REUSED_PID, str(short_tmp / "r")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == f"{sorted(TALK)}\n", done


def test_somebody_at_a_terminal_may_do_everything(listener: socket.socket) -> None:
    address = listener.getsockname()
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover (in the child)
        os.execv(sys.executable, [sys.executable, "-c", DIAL, address])
    with listener.accept()[0] as connection:
        caller = caller_of(connection, [])
        assert has_terminal(pid)
        os.write(terminal, b"\x04")
        os.waitpid(pid, 0)
    os.close(terminal)
    assert caller.scopes == ALL


def test_nobody_sits_at_a_process_that_does_not_exist() -> None:
    assert not has_terminal(2**22 + 1)


KEEPER = """
import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1], sys.argv[2]])
"""


@contextmanager
def below(program: Path, listener: socket.socket) -> Iterator[socket.socket]:
    """A connection of somebody whom this program started, as a keeper is started."""
    program.parent.mkdir(parents=True)
    program.write_text(KEEPER)
    argv = [sys.executable, "-I", "-S", str(program), DIAL, listener.getsockname()]
    keeper = subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)
    with listener.accept()[0] as connection:
        yield connection
        keeper.communicate()


@pytest.mark.parametrize("name", ["keeper_program.py", "__pycache__/keeper_program.py311.py"])
def test_a_keeper_that_nobody_wrote_down_is_one(
    listener: socket.socket, short_tmp: Path, name: str
) -> None:
    """Abuse case 26."""
    with below(short_tmp / "flybridge" / "runtime" / name, listener) as connection:
        caller = caller_of(connection, [])
    assert (caller.scopes, caller.of_agent) == (TALK, True)
    assert caller.principal == f"agent:uid:{os.getuid()}"


def test_a_keeper_above_ourselves_is_none_to_us(listener: socket.socket, short_tmp: Path) -> None:
    """Whoever runs a gateway below an agent is on the same side as its clients."""
    with below(short_tmp / "flybridge/runtime/keeper/keeper_program.py", listener) as connection:
        pid = int(caller_of(connection, []).process.partition(":")[0])
        chain = lineage(pid) or []
        (keeper,) = [one for one in chain if is_keeper(one)]
        assert not is_keeper(keeper, above_us=[keeper])
    us = process(os.getpid())
    assert us is not None
    assert not is_keeper(us)


@pytest.mark.parametrize(
    "name", ["other/runtime/keeper_program.py", "flybridge/runtime/keeper/client.py"]
)
def test_another_program_is_no_keeper(listener: socket.socket, short_tmp: Path, name: str) -> None:
    with below(short_tmp / name, listener) as connection:
        assert not caller_of(connection, []).of_agent
