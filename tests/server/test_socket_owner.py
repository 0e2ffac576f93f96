from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from flybridge.server.socket_owner import uid_of

pytestmark = pytest.mark.needs("linux")
CONNECT = """
import os, socket, sys
os.setuid(4343)
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
"""


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a14_the_kernel_names_the_user_of_a_local_connection(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server((host, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
    ):
        assert uid_of(client.getsockname()[:2], server.getsockname()[:2]) == os.geteuid()
        gone = (host, 1)
        assert uid_of(gone, server.getsockname()[:2]) is None


def test_a14_an_ipv6_socket_with_an_ipv4_address_is_found() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_INET6) as client,
    ):
        port = server.getsockname()[1]
        client.connect(("::ffff:127.0.0.1", port))
        accepted, peer = server.accept()
        assert uid_of(peer, ("127.0.0.1", port)) == os.geteuid()
        accepted.close()


@pytest.mark.needs("root")
def test_a14_another_user_is_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        program = [sys.executable, "-c", CONNECT, str(port)]
        with subprocess.Popen(program, stdin=subprocess.PIPE) as other:
            accepted, peer = server.accept()
            assert uid_of(peer, ("127.0.0.1", port)) == 4343
            accepted.close()
            other.communicate(b"")


def test_what_is_no_address_has_no_user() -> None:
    assert uid_of(("nonsense", 1), ("127.0.0.1", 1)) is None
    assert uid_of(("127.0.0.1", 70_000), ("127.0.0.1", 1)) is None
