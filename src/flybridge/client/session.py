"""Following one session: for as long as the connection lasts, or for as long as it takes."""

from __future__ import annotations

import time
from typing import Protocol, Self

import msgspec
from msgspec import Raw

from flybridge.client.closing import Closing
from flybridge.client.items import Detached, EventItem, Item, Reset, to_item
from flybridge.client.transport.connection import Connection
from flybridge.client.transport.feed import Feed
from flybridge.client.transport.link import LAGGED
from flybridge.client.transport.patience import PATIENCE_S, Pauses
from flybridge.errors import FlybridgeError, GatewayUnreachableError, RemoteProtocolError
from flybridge.wire.native.messages import ReplyLine

STEADY_S = 5.0  # an attachment that lasted this long ends an outage


class MissingEventsError(RemoteProtocolError):
    """Events were left out, or came in the wrong order: what follows cannot be taken."""


class Attached(msgspec.Struct, frozen=True, kw_only=True):
    """What the gateway says when an attachment begins."""

    epoch: int
    head: int
    reset: bool = False


class Attachment(Closing):
    """What one session sends over one connection, as an async iterator.

    Events come in order, each once, none left out. Ends after :class:`Detached`; raises
    ``GatewayUnreachableError`` when the connection is lost, once everything that came before
    was taken. Close it (or use it as a context) when you stop early: while nobody takes what
    comes for it, nothing else of this connection is read either.
    """

    def __init__(self, connection: Connection, feed: Feed, start: Attached, after: int) -> None:
        self.epoch = start.epoch
        self.head = start.head
        self.reset = start.reset
        self.last_seq = after
        self._connection = connection
        self._feed = feed
        self._ended = False

    @classmethod
    async def open(
        cls,
        connection: Connection,
        session: str,
        *,
        epoch: int = 0,
        after: int = 0,
        last: int = 0,
        previews: bool = True,
    ) -> Attachment:
        reply, feed = await connection.attach(
            session, epoch=epoch, after=after, last=last, previews=previews
        )
        try:
            start = _attached(reply)
        except RemoteProtocolError:
            await connection.detach(feed)
            raise
        begin = 0 if start.reset else after
        return cls(connection, feed, start, max(begin, start.head - last) if last else begin)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        """The next item.

        Raises:
            GatewayUnreachableError: the connection was lost.
            RemoteProtocolError: events are missing.
        """
        while not self._ended:
            item = to_item(await self._feed.get())
            if isinstance(item, EventItem) and not self._is_next(item.seq):
                continue
            self._ended = isinstance(item, Detached)
            return item
        raise StopAsyncIteration

    def _is_next(self, seq: int) -> bool:
        """A gateway sends whole batches: their head may be older than what was asked for."""
        if seq > self.last_seq + 1:
            raise MissingEventsError(f"events {self.last_seq + 1} to {seq - 1} did not come")
        if seq <= self.last_seq:
            return False
        self.last_seq = seq
        return True

    async def close(self) -> None:
        """Stop following."""
        self._ended = True
        await self._connection.detach(self._feed)


class Dialler(Protocol):
    """Who can give a connection, again and again."""

    async def connection(self) -> Connection: ...


class Watch(Closing):
    """A session followed across lost connections, as an async iterator.

    The same items as an :class:`Attachment`, each event once and none left out, whatever
    happens to the gateway in between. After a loss it attaches again after the last event that
    was handed out; previews then begin anew with ``since`` 0. The same happens when events are
    missing from what came. :class:`Reset` comes when the log itself began anew. Raises
    ``GatewayUnreachableError`` when an outage lasts longer than ``patience_s``, and whatever
    the gateway refuses the attachment with.
    """

    def __init__(
        self,
        dialler: Dialler,
        session: str,
        *,
        epoch: int = 0,
        after: int = 0,
        last: int = 0,
        previews: bool = True,
        patience_s: float = PATIENCE_S,
        steady_s: float = STEADY_S,
    ) -> None:
        self.epoch = epoch
        self.last_seq = after
        self.head = 0  # the last event there was when it attached, most recently
        self._dialler = dialler
        self._session = session
        self._last = last
        self._previews = previews
        self._patience_s = patience_s
        self._steady_s = steady_s
        self._outage: Pauses | None = None
        self._up_s = time.monotonic()
        self._attachment: Attachment | None = None
        self._reset = False
        self._ended = False

    async def begin(self) -> None:
        """Attach now, and not only when the first item is wanted."""
        while self._attachment is None and not self._ended:
            try:
                await self._attach()
            except GatewayUnreachableError as error:
                await self._lost(error)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        while not self._ended:
            try:
                item = await self._next()
            except GatewayUnreachableError as error:
                await self._lost(error)
                continue
            except MissingEventsError as error:  # the gateway has them: ask for them again
                if self._attachment is not None:
                    await self._attachment.close()
                await self._lost(error)
                continue
            if item is not None:
                return item
        raise StopAsyncIteration

    async def _lost(self, error: FlybridgeError) -> None:
        """One outage lasts until an event came, or until all was quiet for a while."""
        steady = self._attachment is not None and time.monotonic() - self._up_s >= self._steady_s
        self._attachment = None
        if self._outage is None or steady:
            self._outage = Pauses(self._patience_s)
        await self._outage.wait(error)

    async def _next(self) -> Item | None:
        attachment = self._attachment or await self._attach()
        if self._reset:
            self._reset = False
            return Reset(self.epoch)
        item = await anext(attachment)
        if isinstance(item, EventItem):
            self.last_seq = item.seq
            self._outage = None
        elif isinstance(item, Detached):
            self._attachment = None
            if item.code == LAGGED:  # only this client was too slow: go on where it stopped
                return None
            self._ended = True
        return item

    async def _attach(self) -> Attachment:
        connection = await self._dialler.connection()
        attachment = await Attachment.open(
            connection,
            self._session,
            epoch=self.epoch,
            after=self.last_seq,
            last=self._last,
            previews=self._previews,
        )
        self._attachment, self._reset = attachment, attachment.reset
        self.epoch, self.head = attachment.epoch, attachment.head
        self.last_seq = attachment.last_seq
        self._last = 0  # a shortened history is for the beginning: later it would leave a gap
        self._up_s = time.monotonic()
        return attachment

    async def close(self) -> None:
        """Stop following."""
        self._ended = True
        if self._attachment is not None:
            await self._attachment.close()


def _attached(reply: ReplyLine) -> Attached:
    value = reply.value if isinstance(reply.value, Raw) else b"{}"
    try:
        return msgspec.json.decode(value, type=Attached)
    except (msgspec.MsgspecError, ValueError) as error:
        raise RemoteProtocolError(f"bad reply to attach: {error}") from error
