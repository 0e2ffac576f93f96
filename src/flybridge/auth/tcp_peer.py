"""Judge the program at the other end of a TCP connection.

A cookie can be read from a browser's profile by any program of its user, an agent included, and a
port of this machine can be reached by all its users. So what a login is worth depends on who holds
the connection's other socket:

=========================================================== =========
the peer's socket                                           verdict
=========================================================== =========
is not on this machine                                      remote
is ours, and a process below a keeper has it open           agent
is ours, and only a process outside every keeper has it     person
is ours, but no holder is found; or is root's               forwarded
is that of a user in ``serve.forwarders``                   forwarded
is that of a user in ``serve.users``                        person
is any other user's                                         refused
=========================================================== =========

On one Unix user this is friction, not a wall: a socket that is handed to another program passes as
a person's, and behind a proxy nobody can tell which program asks.
"""

from __future__ import annotations

import asyncio
import os
import pwd
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

import msgspec

from flybridge.auth.batches import Batches, TooManyWaitingError
from flybridge.auth.gate import Refused
from flybridge.auth.peer_socket import (
    ESTABLISHED,
    Address,
    Ends,
    TcpSocket,
    find_in_tables,
    find_socket,
    is_local,
)
from flybridge.auth.socket_holder import Holders, find_holders, is_held_by
from flybridge.errors import GatewayError
from flybridge.runtime.keeper.keeper_program import Process, process
from flybridge.session.authorisation import Verdict

MAX_KNOWN = 4096
MAX_RECENT = 4  # holders of other logins that are looked at before all processes are
SETTLE_S = 0.02  # until the end of a connection has arrived here, if its other end is closed
ROOT = 0
Keepers: TypeAlias = Callable[[], Iterable[tuple[int, str]]]
Search: TypeAlias = Callable[[Collection[int], set[tuple[int, str]]], dict[int, Holders | None]]

GONE = Refused(
    403,
    "unknown_peer",
    "The other end of this connection was closed before it could be checked. Connect again.",
)


class PeerRules(msgspec.Struct, frozen=True, kw_only=True):
    """Which other users of this machine may connect, by uid."""

    forwarders: frozenset[int] = frozenset()
    users: frozenset[int] = frozenset()


def peer_rules(forwarders: Iterable[int | str], users: Iterable[int | str]) -> PeerRules:
    """Resolve the users that ``serve.forwarders`` and ``serve.users`` name.

    Raises:
        GatewayError: there is no such user.
    """
    return PeerRules(
        forwarders=frozenset(_uid(user, "serve.forwarders") for user in forwarders),
        users=frozenset(_uid(user, "serve.users") for user in users),
    )


def _uid(user: int | str, setting: str) -> int:
    if isinstance(user, int) or user.isdecimal():
        return int(user)
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        raise GatewayError(
            f"{setting}: there is no user {user!r} on this machine; correct the name or use a uid"
        ) from None


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where a connection comes from, as far as that is known without a search for its holder."""

    verdict: Verdict | None = None  # None: its holder decides
    inode: int = 0
    refused: Refused | None = None  # why nothing is answered


class _Known(msgspec.Struct):
    client: object
    origin: Origin
    verdict: Verdict | None = None


class TcpPeers:
    """Judges connections, each of them once.

    A connection is known by the very tuple that its listener has for the client's address: it makes
    one for each connection. All listeners of a gateway share one instance, so that a search for
    holders answers all of them. ``search`` finds who holds sockets, among all processes.
    """

    def __init__(
        self, keepers: Keepers, rules: PeerRules | None = None, *, search: Search = find_holders
    ) -> None:
        self._keepers = keepers
        self._rules = rules or PeerRules()
        self._find_holders = search
        self._known: OrderedDict[int, _Known] = OrderedDict()
        self._holders: OrderedDict[str, Process] = OrderedDict()  # login → who held its last one
        self._tables: Batches[Ends, TcpSocket] = Batches(find_in_tables)
        self._searches: Batches[int, Holders] = Batches(self._search)
        self._looking = asyncio.Semaphore(1)
        self._keepers_now: frozenset[tuple[int, str]] = frozenset()  # read by threads

    # ---- where a connection comes from -----------------------------------------------------------

    def glance(self, client: Address | None, server: Address | None) -> Origin | None:
        """Return a connection's origin if one cheap query tells it, else None."""
        if client is None or server is None:
            return Origin(verdict="refused", refused=GONE)
        known = self._known.get(id(client))
        if known is not None and known.client is client:
            return known.origin
        try:
            found = find_socket(client, server)
            if found is None and is_local(client[0]):
                return None
        except OSError:
            return None
        except ValueError:
            return Origin(verdict="refused", refused=GONE)
        origin = Origin(verdict="remote") if found is None else self._origin_of(found)
        self._remember(client, origin)
        return origin

    async def origin(self, client: Address | None, server: Address | None) -> Origin:
        """Return where a connection comes from, and whether it is refused for that."""
        origin = self.glance(client, server)
        if origin is not None:
            return origin
        assert client is not None
        assert server is not None
        try:
            origin = await self._from_tables(client, server)
        except (TooManyWaitingError, OSError, ValueError):
            return Origin(verdict="refused", refused=GONE)
        self._remember(client, origin)
        return origin

    async def _from_tables(self, client: Address, server: Address) -> Origin:
        """Look a local connection up in the kernel's tables.

        If only our own end is listed, the other one is in another network namespace or on the
        machine that ours is a guest of; or it was closed by somebody who does not want to be seen.
        Then our end soon knows.
        """
        theirs, ours = (client, server), (server, client)
        for pause_s in (SETTLE_S, 0.0):
            found, own = await asyncio.gather(self._tables.get(theirs), self._tables.get(ours))
            if found is not None:
                return self._origin_of(found)
            if own is None or own.state != ESTABLISHED:
                break
            if not pause_s:
                return Origin(verdict="forwarded")
            await asyncio.sleep(pause_s)
        return Origin(verdict="refused", refused=GONE)

    def _origin_of(self, found: TcpSocket) -> Origin:
        if not found.inode:  # closed: older kernels take its owner for root
            return Origin(verdict="refused", refused=GONE)
        if found.uid == os.geteuid():
            return Origin(inode=found.inode)
        if found.uid in self._rules.users:
            return Origin(verdict="person")
        if found.uid == ROOT or found.uid in self._rules.forwarders:
            return Origin(verdict="forwarded")
        return Origin(verdict="refused", refused=other_user(found.uid))

    def _remember(self, client: Address, origin: Origin) -> None:
        self._known[id(client)] = _Known(client, origin)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)

    # ---- who holds it ----------------------------------------------------------------------------

    async def verdict(
        self, client: Address | None, server: Address | None, *, login: str = ""
    ) -> Verdict:
        """Judge a connection; ``login`` is the credential that came with it.

        A verdict that a search could not reach within its bound is "forwarded", and is not kept.
        """
        origin = await self.origin(client, server)
        if origin.verdict is not None:
            return origin.verdict
        known = self._known.get(id(client))
        if known is not None and known.client is client and known.verdict is not None:
            return known.verdict
        verdict = await self._by_holder(origin.inode, login)
        if verdict is None:
            return "forwarded"
        if known is not None and known.client is client:
            known.verdict = verdict
        return verdict

    async def _by_holder(self, inode: int, login: str) -> Verdict | None:
        self._keepers_now = frozenset(self._keepers())
        recent = list(reversed(self._holders.values()))
        if login in self._holders:
            recent.insert(0, self._holders[login])
        if recent:
            async with self._looking:
                holder = await asyncio.to_thread(self._first_holder, recent, inode)
            if holder is not None:
                self._keep_holder(login, holder)
                return "person"
        try:
            found = await self._searches.get(inode)
        except TooManyWaitingError:
            return None
        if found is None:
            return None
        if found.below:
            return "agent"
        if found.outside is None:
            return "forwarded"
        self._keep_holder(login, found.outside)
        return "person"

    def _first_holder(self, some: list[Process], inode: int) -> Process | None:
        """Look at those that held a person's connection before.

        Agents are not looked at here: one that could make such a process hold its socket could
        close its own as well.
        """
        keepers = set(self._keepers_now)
        distinct = {(holder.pid, holder.start): holder for holder in some}
        for holder in list(distinct.values())[: MAX_RECENT + 1]:
            now = process(holder.pid)
            if now is not None and now.start == holder.start and is_held_by(now, inode, keepers):
                return now
        return None

    def _search(self, inodes: Collection[int]) -> dict[int, Holders]:
        found = self._find_holders(inodes, set(self._keepers_now))
        return {inode: holders for inode, holders in found.items() if holders is not None}

    def _keep_holder(self, login: str, holder: Process) -> None:
        self._holders[login] = holder
        self._holders.move_to_end(login)
        if len(self._holders) > MAX_KNOWN:
            self._holders.popitem(last=False)


def other_user(uid: int) -> Refused:
    """Return the refusal for a user of this machine that no setting lists."""
    return Refused(
        403,
        "other_user",
        f"This gateway belongs to {_name(os.geteuid())}, and {_name(uid)} may not connect to it. "
        "To let a person in, list the user in serve.users; for a reverse proxy, in "
        "serve.forwarders.",
    )


def _name(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name!r} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
