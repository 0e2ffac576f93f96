from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import pytest

from flybridge.auth import batches, peer_socket, socket_holder, tcp_peer
from flybridge.auth.peer_socket import Address, TcpSocket
from flybridge.auth.socket_holder import Holders, find_holders
from flybridge.auth.tcp_peer import PeerRules, TcpPeers, other_user, peer_rules
from flybridge.errors import GatewayError
from flybridge.runtime.keeper.process import start_time
from flybridge.session.authorisation import Verdict
from tests.unit.auth.holding import WAYS, holding

pytestmark = pytest.mark.needs("linux")


def identity(pid: int) -> tuple[int, str]:
    return pid, start_time(pid) or ""


@contextmanager
def connected(host: str = "127.0.0.1") -> Iterator[tuple[Address, Address]]:
    """A connection of this very process to itself: the client's address and the server's."""
    with (
        socket.create_server((host, 0)) as server,
        socket.create_connection(server.getsockname()[:2]) as client,
        server.accept()[0],
    ):
        yield client.getsockname()[:2], server.getsockname()[:2]


async def verdict(client: Address, server: Address, *keepers: tuple[int, str]) -> Verdict:
    return await TcpPeers(lambda: keepers).verdict(client, server)


# ---- our own user --------------------------------------------------------------------------------


async def test_a_program_outside_every_keeper_is_a_persons() -> None:
    with holding("plain") as (client, server, _):
        assert await verdict(client, server) == "person"
        other = (os.getpid(), "another start")  # a pid alone names nobody
        assert await verdict(client, server, other) == "person"


@pytest.mark.parametrize("way", ["plain", "device", "thread", "leader"])
async def test_a05_a_socket_below_a_keeper_is_an_agents_in_whichever_table(way: str) -> None:
    with holding(way) as (client, server, _):
        assert await verdict(client, server, identity(os.getpid())) == "agent"


@pytest.mark.parametrize("way", ["flight", "undumpable"])
@pytest.mark.parametrize("below", [True, False])
async def test_a05_a_socket_that_nobody_is_seen_to_hold_is_no_persons(
    way: str, below: bool
) -> None:
    if way == "undumpable" and os.geteuid() == 0:
        pytest.skip("root reads every table")
    with holding(way) as (client, server, pid):
        keepers = [identity(pid)] if below else []
        assert await verdict(client, server, *keepers) == "forwarded"


@pytest.mark.parametrize("way", ["thread", "leader"])
async def test_a05_outside_keepers_only_the_first_threads_table_counts(way: str) -> None:
    with holding(way) as (client, server, _):
        assert await verdict(client, server) == "forwarded"


async def test_a02_a_process_below_a_keeper_that_cannot_be_read_changes_nothing() -> None:
    """A keeper hides its memory, and so does the sandbox of a browser that an agent starts."""
    with (
        holding("undumpable") as (_, _, hidden),
        holding("plain") as (client, server, _),
    ):
        assert await verdict(client, server, identity(hidden)) == "person"


async def test_a_socket_that_is_held_on_both_sides_is_an_agents() -> None:
    inherits = "import sys; print('ready', flush=True); sys.stdin.read()"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
        server.accept()[0],
        subprocess.Popen(  # noqa: ASYNC220
            [sys.executable, "-c", inherits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(client.fileno(),),
        ) as child,
    ):
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        ends = client.getsockname(), server.getsockname()
        assert await verdict(*ends) == "person"
        assert await verdict(*ends, identity(child.pid)) == "agent"
        child.communicate(b"", timeout=60)


# ---- other users ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("uid", "expected"),
    [(0, "forwarded"), (4343, "refused"), (33, "forwarded"), (1777, "person")],
)
async def test_a04_another_users_socket_is_judged_by_its_owner(
    monkeypatch: pytest.MonkeyPatch, uid: int, expected: Verdict
) -> None:
    """The owner is played here; tests/abuse/test_other_users.py has real ones."""
    if os.geteuid() == uid:
        pytest.skip("that is us")
    monkeypatch.setattr(tcp_peer, "find_socket", lambda *ends: TcpSocket(uid, 1, 1))
    rules = PeerRules(forwarders=frozenset({33}), users=frozenset({1777}))
    peers = TcpPeers(tuple, rules)
    with connected() as (client, server):
        origin = await peers.origin(client, server)
        assert await peers.verdict(client, server) == expected
        assert (origin.refused is not None) == (expected == "refused")


def test_a04_the_refusal_names_the_setting_that_would_allow_it() -> None:
    refused = other_user(4343)
    assert (refused.status, refused.code) == (403, "other_user")
    assert "uid 4343" in refused.message
    assert "serve.users" in refused.message
    assert "serve.forwarders" in refused.message
    assert "'root' (uid 0)" in other_user(0).message


def test_users_are_named_or_numbered() -> None:
    assert peer_rules(["root", 33], ["44"]) == PeerRules(
        forwarders=frozenset({0, 33}), users=frozenset({44})
    )
    with pytest.raises(GatewayError, match=r"serve\.users: there is no user 'nobody here'"):
        peer_rules([], ["nobody here"])


# ---- elsewhere, or gone --------------------------------------------------------------------------


async def test_who_is_on_another_machine_is_remote() -> None:
    peers = TcpPeers(lambda: [identity(os.getpid())])
    assert await peers.verdict(("198.51.100.7", 1), ("198.51.100.8", 2)) == "remote"
    assert await peers.verdict(("2001:db8::7", 1), ("2001:db8::8", 2)) == "remote"


async def test_who_is_gone_or_has_no_address_is_refused() -> None:
    peers = TcpPeers(tuple)
    for ends in (
        (("127.0.0.1", 1), ("127.0.0.1", 2)),
        (("::1", 1), ("::1", 2)),
        (("no address", 1), ("198.51.100.8", 2)),
        (None, None),
    ):
        origin = await peers.origin(*ends)
        assert origin.refused is not None
        assert origin.refused.code == "unknown_peer"
        assert await peers.verdict(*ends) == "refused"


@pytest.mark.parametrize("reset", [True, False])
async def test_a05_who_asks_and_closes_at_once_is_refused(reset: bool) -> None:
    """Nobody can tell whose socket it was: not even whether it was our own user's."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        with server.accept()[0]:
            ends = client.getsockname(), client.getpeername()
            client.sendall(b"POST / HTTP/1.1\r\n\r\n")
            if reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.close()
            assert await TcpPeers(tuple).verdict(*ends) == "refused"


async def test_an_end_in_another_network_namespace_is_forwarded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only our own end is in the kernel's lists, and stays open."""
    with connected() as (client, server):

        def ours_only(wanted: object) -> dict[object, TcpSocket]:
            return {(server, client): TcpSocket(os.geteuid(), 7, peer_socket.ESTABLISHED)}

        monkeypatch.setattr(tcp_peer, "find_socket", lambda *ends: None)
        monkeypatch.setattr(tcp_peer, "find_in_tables", ours_only)
        assert await TcpPeers(tuple).verdict(client, server) == "forwarded"


async def test_a_kernel_without_sock_diag_is_asked_by_its_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*ends: Address) -> None:
        raise OSError("no such family")

    monkeypatch.setattr(tcp_peer, "find_socket", refuse)
    with holding("plain") as (client, server, _):
        assert await verdict(client, server) == "person"
        assert await verdict(client, server, identity(os.getpid())) == "agent"


# ---- what it costs -------------------------------------------------------------------------------


async def test_a_search_beyond_its_bound_is_forwarded_and_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peers = TcpPeers(tuple)
    with holding("plain") as (client, server, _):
        monkeypatch.setattr(socket_holder, "MAX_FILES", 1)
        assert await peers.verdict(client, server) == "forwarded"
        monkeypatch.undo()
        assert await peers.verdict(client, server) == "person"
        again = (client[0], client[1])
        monkeypatch.setattr(batches, "MAX_WAITING", 0)
        assert await TcpPeers(tuple).verdict(again, server) == "forwarded"


async def test_a_connection_is_judged_once_and_known_by_its_own_tuple() -> None:
    keepers = [identity(os.getpid())]
    peers = TcpPeers(lambda: keepers)
    with connected() as (client, server):
        same = (client[0], int(str(client[1])))
        assert await peers.verdict(client, server) == "agent"
        keepers[:] = [(os.getpid(), "another start")]
        assert await peers.verdict(client, server) == "agent"  # as it was judged
        assert await peers.verdict(same, server) == "person"  # another one with that address


class Searches:
    """A search through all processes that counts how often it is made."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(
        self, inodes: Collection[int], keepers: set[tuple[int, str]]
    ) -> dict[int, Holders | None]:
        self.count += 1
        return find_holders(inodes, keepers)


async def test_the_holder_of_a_logins_last_connection_is_looked_at_first() -> None:
    searches = Searches()
    peers = TcpPeers(tuple, search=searches)
    with connected() as (client, server):
        assert await peers.verdict(client, server, login="a") == "person"
    for login in ("a", "b", ""):  # the same browser may have another login
        with connected() as (client, server):
            assert await peers.verdict(client, server, login=login) == "person"
    assert searches.count == 1
    with holding("plain") as (client, server, _):
        await peers.verdict(client, server, login="a")
    assert searches.count == 2


async def test_a_holder_that_is_below_a_keeper_by_now_is_an_agent() -> None:
    keepers: list[tuple[int, str]] = []
    peers = TcpPeers(lambda: keepers)
    with connected() as (client, server):
        assert await peers.verdict(client, server, login="a") == "person"
    keepers.append(identity(os.getpid()))
    with connected() as (client, server):
        assert await peers.verdict(client, server, login="a") == "agent"


async def test_many_connections_share_their_searches() -> None:
    searches = Searches()
    peers = TcpPeers(lambda: [identity(os.getpid())], search=searches)
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        clients = [socket.create_connection(server.getsockname()) for _ in range(60)]
        ends = [(one.getsockname(), one.getpeername()) for one in clients]
        found = await asyncio.gather(*(peers.verdict(*each) for each in ends))
        for client in clients:
            client.close()
    assert found == ["agent"] * 60
    assert searches.count <= 3


async def test_judging_does_not_hold_up_the_loop() -> None:
    peers = TcpPeers(tuple)
    threads: list[str] = []
    with connected() as (client, server):
        judging = asyncio.ensure_future(peers.verdict(client, server))
        while not judging.done():
            threads += [thread.name for thread in threading.enumerate()]
            await asyncio.sleep(0)
        assert await judging == "person"
    assert any(name.startswith("asyncio") for name in threads)


def test_every_trick_is_tried() -> None:
    assert set(WAYS) == {"plain", "device", "thread", "leader", "flight", "undumpable"}
