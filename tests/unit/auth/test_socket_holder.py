from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from flybridge.auth import socket_holder
from flybridge.auth.peer_socket import find_socket
from flybridge.auth.socket_holder import find_holders, holder_of, is_held_by, is_outside
from flybridge.runtime.keeper.keeper_program import Process, process
from tests.unit.auth.holding import holding

pytestmark = pytest.mark.needs("linux")
HOLD = (
    "import socket,sys\n"
    "s=socket.create_connection(('127.0.0.1',int(sys.argv[1])))\n"
    "print(s.getsockname()[1],flush=True)\nsys.stdin.read()"
)


def me() -> Process:
    found = process(os.getpid())
    assert found is not None
    return found


def test_the_process_at_the_other_end_is_found_and_no_other() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        assert child.stdin is not None
        client = ("127.0.0.1", int(child.stdout.readline()))
        theirs = process(child.pid)
        assert theirs is not None
        found = holder_of(client, server.getsockname(), None)
        assert found is not None
        assert (found.pid, found.start) == (child.pid, theirs.start)
        assert holder_of(client, server.getsockname(), [theirs]) is not None
        assert holder_of(client, server.getsockname(), [me()]) is None
        assert holder_of(client, server.getsockname(), []) is None
        child.stdin.close()
        child.stdout.close()
        child.wait(10)
        assert holder_of(client, server.getsockname(), None) is None


def test_we_are_nobodys_agent() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as ours,
    ):
        assert holder_of(ours.getsockname(), server.getsockname(), [me()]) is None


def test_what_cannot_be_looked_up_is_nobody() -> None:
    assert holder_of(("no address", 1), ("127.0.0.1", 1), None) is None
    gone = Process(2**22 + 1, b"1 (x) S 0 1 1" + b" 0" * 20)
    assert holder_of(("127.0.0.1", 1), ("127.0.0.1", 2), [gone]) is None


def inode_of(*ends: tuple[str, int]) -> int:
    found = find_socket(*ends)
    assert found is not None
    return found.inode


def test_the_holders_of_several_sockets_are_found_in_one_search() -> None:
    with holding("plain") as (*mine, first), holding("thread") as (*theirs, second):
        wanted = [inode_of(*mine), inode_of(*theirs), 1]
        keeper = process(second)
        assert keeper is not None
        found = find_holders(wanted, {(keeper.pid, keeper.start)})
        outside = found[wanted[0]]
        assert outside is not None
        assert outside.outside is not None
        assert (outside.below, outside.outside.pid) == (False, first)
        assert found[wanted[1]] == (True, None)
        assert found[wanted[2]] == (False, None)


def test_threads_are_read_one_by_one_where_the_kernel_does_not_compare_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket_holder, "_KCMP", 0)
    with holding("thread") as (*ends, pid):
        keeper = process(pid)
        assert keeper is not None
        inode = inode_of(*ends)
        assert find_holders([inode], {(pid, keeper.start)}) == {inode: (True, None)}


def test_a_search_has_a_bound_in_files_and_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_holder, "MAX_FILES", 0)
    assert find_holders([1], set()) == {1: None}
    monkeypatch.undo()
    monkeypatch.setattr(socket_holder, "MAX_S", -1.0)
    assert find_holders([1], set()) == {1: None}


def test_a_holder_counts_only_as_the_process_it_was() -> None:
    with holding("plain") as (*ends, pid):
        holder = process(pid)
        assert holder is not None
        inode = inode_of(*ends)
        assert is_held_by(holder, inode, set())
        assert not is_held_by(holder, inode + 1, set())
        assert not is_held_by(holder, inode, {(me().pid, me().start)})  # below a keeper
        holder.start = "1"  # another process had this pid
        assert not is_held_by(holder, inode, set())
        assert not is_outside(holder, set())
