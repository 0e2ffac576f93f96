from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flybridge.auth import peer_socket
from flybridge.auth.peer_socket import (
    ESTABLISHED,
    Address,
    find_in_tables,
    find_socket,
    is_local,
    uid_of,
)

pytestmark = pytest.mark.needs("linux")
V6 = pytest.param(
    "::1", marks=pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6")
)


def inode_of(sock: socket.socket) -> int:
    return os.fstat(sock.fileno()).st_ino


def ends(sock: socket.socket) -> tuple[Address, Address]:
    local, remote = sock.getsockname(), sock.getpeername()
    return (local[0], local[1]), (remote[0], remote[1])


@pytest.mark.parametrize("host", ["127.0.0.1", V6])
def test_both_ends_of_a_connection_are_found_with_owner_and_inode(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server((host, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
        server.accept()[0] as accepted,
    ):
        for sock in (client, accepted):
            expected = (os.geteuid(), inode_of(sock), ESTABLISHED)
            assert find_socket(*ends(sock)) == expected
            assert find_in_tables([ends(sock)]) == {ends(sock): expected}


def test_an_address_in_both_its_forms_is_the_same() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        (host, port), (other, to) = ends(client)
        mapped = ((f"::ffff:{host}", port), (f"::ffff:{other}", to))
        found = find_socket(*mapped)
        assert found is not None
        assert found.inode == inode_of(client)
        assert find_in_tables([mapped])[mapped] == found


def test_an_ipv6_socket_that_speaks_ipv4_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        try:
            client = socket.socket(socket.AF_INET6)
            client.connect(("::ffff:127.0.0.1", server.getsockname()[1]))
        except OSError:
            pytest.skip("no IPv6")
        with client, server.accept()[0] as accepted:
            local, remote = accepted.getpeername(), accepted.getsockname()
            found = find_socket(local, remote)
            assert found is not None
            assert found.inode == inode_of(client)
            assert find_in_tables([(local, remote)])[(local, remote)] == found


def test_a_listener_is_not_taken_for_a_connection_from_its_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert find_socket(server.getsockname(), ("127.0.0.1", 9)) is None
        assert find_in_tables([(server.getsockname(), ("127.0.0.1", 9))]) == {}


def test_a_socket_that_was_closed_belongs_to_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        with server.accept()[0] as accepted:
            known = ends(client)
            client.close()
            found = find_socket(*known)
            assert found is None or found.inode == 0
            ours = find_socket(*ends(accepted)) if found else None
            assert ours is None or ours.state != ESTABLISHED


def test_a05_a_socket_bound_to_a_device_is_in_the_tables() -> None:
    """An exact query does not find it: somebody could hide like that."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo\0")
        client.connect(server.getsockname())
        assert find_in_tables([ends(client)])[ends(client)].inode == inode_of(client)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.200.3.4", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("198.51.100.7", False),
        ("2001:db8::7", False),
        ("fe80::dead:beef%lo", False),
    ],
)
def test_an_address_is_this_machines_or_not(host: str, local: bool) -> None:
    assert is_local(host) is local


def test_a02_every_address_of_this_machine_is_local_not_only_loopback() -> None:
    """Whatever address the machine would be known by outside, if it has any."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.7", 9))  # sends nothing
        except OSError:
            pytest.skip("this machine has no address but loopback")
        host = probe.getsockname()[0]
    assert is_local(host)
    assert is_local(f"::ffff:{host}")


def test_what_is_no_address_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no address"):
        is_local("no address")
    with pytest.raises(ValueError, match="no address"):
        find_socket(("no address", 1), ("127.0.0.1", 2))
    monkeypatch.setattr(peer_socket, "TABLES", ("/proc/net/none",))
    with pytest.raises(FileNotFoundError):
        find_in_tables([(("127.0.0.1", 1), ("127.0.0.1", 2))])


# ---- the user of a connection -------------------------------------------------------------------

CONNECT = """
import os, socket, sys
os.setuid(4343)
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
sys.stdin.read()
"""


@pytest.mark.parametrize("host", ["127.0.0.1", V6])
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
