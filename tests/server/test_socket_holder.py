from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from flybridge.runtime.keeper_program import Process, process
from flybridge.server.socket_holder import holder_of

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
