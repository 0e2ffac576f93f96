from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flybridge.runtime.process import start_time
from flybridge.server import tcp_peer
from flybridge.server.tcp_peer import Address, TcpPeers, is_of_agent

pytestmark = pytest.mark.needs("linux")
CONNECT = """
import socket, sys
one = socket.create_connection((sys.argv[1], int(sys.argv[2])))
sys.stdin.read()
"""


def me() -> tuple[int, str]:
    return os.getpid(), start_time(os.getpid()) or ""


@contextmanager
def connected(family: int = socket.AF_INET) -> Iterator[tuple[Address, Address]]:
    """A connection of this very process to itself: the client's address and the server's."""
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with (
        socket.create_server((host, 0), family=family) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
        server.accept()[0],
    ):
        yield client.getsockname()[:2], server.getsockname()[:2]


def test_a_socket_held_below_a_keeper_is_an_agents() -> None:
    with connected() as (client, server):
        assert is_of_agent(client, server, {me()})


def test_a_socket_held_by_somebody_else_is_not() -> None:
    with connected() as (client, server), subprocess.Popen(["sleep", "30"]) as other:
        keeper = (other.pid, start_time(other.pid) or "")
        assert not is_of_agent(client, server, {keeper})
        other.kill()


def test_a_descendant_counts_as_its_keeper() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        inner = [sys.executable, "-c", CONNECT, "127.0.0.1", str(port)]
        program = "import subprocess, sys; subprocess.run(sys.argv[1:])"
        command = [sys.executable, "-c", program, *inner]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as keeper:
            server.settimeout(20)
            accepted, client = server.accept()
            with accepted:
                known = (keeper.pid, start_time(keeper.pid) or "")
                assert is_of_agent(client, ("127.0.0.1", port), {known})
                other = (keeper.pid, "another start")  # a pid alone names nobody
                assert not is_of_agent(client, ("127.0.0.1", port), {other})
            keeper.communicate(b"", timeout=20)


@pytest.mark.skipif(not Path("/proc/net/if_inet6").exists(), reason="no IPv6")
def test_ipv6_is_told_too() -> None:
    try:
        with connected(socket.AF_INET6) as (client, server):
            assert is_of_agent(client, server, {me()})
    except OSError:
        pytest.skip("no IPv6 loopback")


def test_an_address_in_both_its_forms_is_one() -> None:
    with connected() as (client, server):
        mapped = (f"::ffff:{client[0]}", client[1]), (f"::ffff:{server[0]}", server[1])
        assert is_of_agent(*mapped, {me()})


def test_who_is_here_and_gone_counts_as_an_agent_and_who_is_elsewhere_does_not() -> None:
    assert is_of_agent(("127.0.0.1", 1), ("127.0.0.1", 2), {me()})
    assert is_of_agent(("::1", 1), ("::1", 2), {me()})
    assert not is_of_agent(("192.0.2.7", 1), ("192.0.2.8", 2), {me()})
    assert is_of_agent(("no address", 1), ("192.0.2.8", 2), {me()})


def test_too_many_files_to_look_at_cannot_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_peer, "MAX_FILES", 1)
    with connected() as (client, server), subprocess.Popen(["sleep", "30"]) as other:
        assert is_of_agent(client, server, {(other.pid, start_time(other.pid) or "")})
        other.kill()


async def test_without_keepers_nobody_is_looked_at() -> None:
    assert not await TcpPeers(tuple).of_agent(None, None)
    assert await TcpPeers(lambda: [me()]).of_agent(None, None)


async def test_a_connection_is_judged_once_and_known_by_its_own_tuple() -> None:
    keepers = [me()]
    peers = TcpPeers(lambda: keepers)
    with connected() as (client, server):
        same = (client[0], int(str(client[1])))
        assert await peers.of_agent(client, server)
        keepers[:] = [(os.getpid(), "another start")]
        assert await peers.of_agent(client, server)  # as it was judged
        assert not await peers.of_agent(same, server)  # another connection with that address


async def test_judging_does_not_hold_up_the_loop() -> None:
    peers = TcpPeers(lambda: [me()])
    threads: list[str] = []
    with connected() as (client, server):
        judging = asyncio.ensure_future(peers.of_agent(client, server))
        await asyncio.sleep(0)
        threads += [one.name for one in threading.enumerate()]
        assert await judging
    assert any(name.startswith("asyncio") for name in threads)
