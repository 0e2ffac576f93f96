"""Which agents are expected to connect to us, and where they find us.

The door behind it is opened when the first of them is wanted. Its port is kept, because an
agent that a gateway left behind knocks at the old one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from flybridge.errors import KeeperError
from flybridge.model.ids import IncarnationId
from flybridge.runtime.links.socket_link import SocketLink
from flybridge.runtime.links.tickets import is_ticket_of, life_in, ticket_of
from flybridge.session.ports import IncarnationRow

PATH = "/ws/cli/"
SLOT = "companion.slot"  # the label of a session that a small device shows


class Expected(msgspec.Struct, frozen=True):
    """One life, the name it comes under (its slot, or its session's id), and its link."""

    row: IncarnationRow
    place: str
    link: SocketLink


class DialIns:
    """All agents of one gateway that connect by themselves."""

    def __init__(
        self, listen: Callable[[], Awaitable[int]], shut: Callable[[], Awaitable[None]]
    ) -> None:
        self._listen = listen
        self._shut = shut
        self._opening = asyncio.Lock()
        self._lives: dict[IncarnationId, Expected] = {}
        self.port = 0

    async def open(self) -> None:
        """See that they can come.

        Raises:
            KeeperError: there is no port to be had.
        """
        async with self._opening:
            if not self.port:
                try:
                    self.port = await self._listen()
                except OSError as error:
                    raise KeeperError(f"agents cannot connect: {error.strerror}") from error

    def url(self, row: IncarnationRow, place: str) -> str:
        """Where this life finds us. Whoever knows it could come in its place: it is a secret."""
        return f"ws://127.0.0.1:{self.port}{PATH}{place}?ticket={ticket_of(row)}"

    def expect(self, row: IncarnationRow, place: str, link: SocketLink) -> None:
        self._lives[row.incarnation] = Expected(row, place, link)

    def of(self, incarnation: IncarnationId) -> Expected | None:
        return self._lives.get(incarnation)

    def find(self, place: str, ticket: str) -> SocketLink | None:
        """The link of the life that this ticket is for, if it is one and that life is expected."""
        found = self._lives.get(IncarnationId(life_in(ticket)))
        if found is None or found.place != place or not is_ticket_of(found.row, ticket):
            return None
        return found.link

    def forget(self, incarnation: IncarnationId) -> None:
        """That life is over."""
        found = self._lives.pop(incarnation, None)
        if found is not None:
            found.link.hang_up()

    def holders(self) -> list[tuple[int, str]]:
        """Processes that people started themselves: (pid, start time). What descends from them
        is an agent's doing, as what descends from a keeper is."""
        return [one.link.holder for one in self._lives.values() if one.link.holder is not None]

    async def close(self) -> None:
        """The gateway ends; the agents come back to the next one."""
        lives, self._lives = list(self._lives.values()), {}
        for one in lives:
            await one.link.let_go()
        await self._shut()
