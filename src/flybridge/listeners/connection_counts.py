"""Count connections by who opened them, and choose which one has to go when there are too many.

A connection from this machine is counted for the Unix user that opened it, every other one for
its address. Where a source has all the connections it may have, the one of its own that has been
idle longest is closed in favour of the new one: connections without a request lock nobody out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from flybridge.auth.peer_socket import Address, uid_of
from flybridge.model.loopback import is_loopback


class Closable(Protocol):
    def evict(self) -> None: ...


class ConnectionCounts:
    """All open connections of one listener. Every operation takes constant time, except for
    :meth:`add` while all places are taken, which looks at each source once."""

    def __init__(
        self,
        *,
        of_one_source: int,
        in_all: int,
        uid: Callable[[Address, Address], int | None] = uid_of,
    ) -> None:
        self._of_one_source = of_one_source
        self._in_all = in_all
        self._uid = uid
        self._total = 0
        self._open: dict[str, int] = {}
        self._idle: dict[str, dict[Closable, None]] = {}  # longest idle first

    def source_of(self, client: Address | None, server: Address | None) -> str:
        """Return what a connection is counted by."""
        if client is None or server is None:
            return ""
        if is_loopback(client[0]) or client[0] == server[0]:
            uid = self._uid(client[:2], server[:2])
            if uid is not None:
                return f"uid:{uid}"
        return client[0]

    def add(self, source: str, connection: Closable, *, others: int = 0) -> bool:
        """Count a new connection; False: there is no room for it. ``others``: connections of
        the same listener that are not counted here."""
        crowded = ""
        if self._open.get(source, 0) >= self._of_one_source:
            crowded = source
        elif len(self) + others >= self._in_all:
            crowded = max(self._idle, key=lambda name: len(self._idle[name]), default="")
            if not crowded:
                return False
        if crowded:
            oldest = next(iter(self._idle.get(crowded, ())), None)
            if oldest is None:
                return False
            self.remove(crowded, oldest)
            oldest.evict()
        self._total += 1
        self._open[source] = self._open.get(source, 0) + 1
        self.idle(source, connection)
        return True

    def __len__(self) -> int:
        return self._total

    def idle(self, source: str, connection: Closable) -> None:
        """Note that a connection has no request now: it may be closed in favour of others."""
        self._idle.setdefault(source, {}).setdefault(connection)

    def busy(self, source: str, connection: Closable) -> None:
        """Note that a connection has a request: it is not closed in favour of others."""
        waiting = self._idle.get(source)
        if waiting is not None:
            waiting.pop(connection, None)
            if not waiting:
                del self._idle[source]

    def remove(self, source: str, connection: Closable) -> None:
        """Forget a connection that was added."""
        self.busy(source, connection)
        self._total -= 1
        self._open[source] -= 1
        if not self._open[source]:
            del self._open[source]
