"""One connection to a gateway: requests and their replies, and what attached sessions send.

There is no task behind it: bytes that arrive are sorted at once into the future of the request
they answer or the feed of the session they belong to. A reader that lags stops the socket from
being read, except while a reply is awaited: a reader that asks something in between would
otherwise wait for itself. What piles up then is bounded too; beyond that the attachment ends
with the code ``lagged``.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.client.feed import Feed, SessionLine
from flybridge.client.refusals import is_recorded, to_error
from flybridge.client.state_dir import StateDir
from flybridge.errors import (
    FlybridgeError,
    GatewayError,
    GatewayUnreachableError,
    LocalProtocolError,
    RemoteProtocolError,
)
from flybridge.wire.lines import StrictLineSplitter
from flybridge.wire.native import messages as wire

LAGGED: Final = "lagged"
HELLO_S = 10.0
REPLY_S = 60.0  # beyond what the gateway itself was told to wait
CLOSE_S = 1.0


class Connection:
    """A greeted client of a gateway. Made by :meth:`open`."""

    def __init__(self, link: _Link, welcome: wire.Welcome) -> None:
        self._link = link
        self.welcome = welcome

    @classmethod
    async def open(cls, state: StateDir, *, client: str = "python") -> Connection:
        """Connect and say hello.

        Raises:
            GatewayUnreachableError: nobody listens, or it hung up before it answered.
            GatewayError: somebody else listens, or it speaks another protocol.
        """
        link = await _dial(state)
        try:
            async with asyncio.timeout(HELLO_S):
                await link.write(wire.encode(wire.Hello(proto=wire.PROTO, client=client)))
                welcome = await link.welcome
        except TimeoutError as error:
            link.abort()
            raise GatewayUnreachableError(f"no welcome within {HELLO_S:.0f} s") from error
        except BaseException:
            link.abort()
            raise
        if welcome.proto != wire.PROTO:
            link.abort()
            raise GatewayError(
                f"the gateway speaks protocol {welcome.proto}, this client {wire.PROTO}: "
                "stop the gateway, then try again"
            )
        return cls(link, welcome)

    @property
    def closed(self) -> bool:
        """Whether the connection was lost or closed; nothing more can be asked of it."""
        return self._link.lost is not None

    async def submit(
        self, session: str, command: Raw, *, request: str, until: str, wait_ms: int
    ) -> wire.ReplyLine:
        """Hand a command to a session; the reply, or the error a refusal stands for.

        A reply that says how far the command came is not a refusal, even with an ``error``:
        the command is in the log, and the code says why it is not where it should be.
        """
        ref = self._link.next_ref()
        message = wire.Submit(
            ref=ref,
            session=session,
            request=request,
            command=command,
            until=until,
            wait_ms=wait_ms,
        )
        reply = await self._call(ref, message, REPLY_S + wait_ms / 1000)
        return reply if is_recorded(reply) else _checked(reply, {"session": session})

    async def ask(
        self, name: str, params: Mapping[str, object] | None = None, *, timeout_s: float = REPLY_S
    ) -> wire.ReplyLine:
        """Ask the gateway something; the reply, or the error it stands for."""
        ref = self._link.next_ref()
        raw: Raw | UnsetType = UNSET if params is None else Raw(msgspec.json.encode(params))
        reply = await self._call(ref, wire.Ask(ref=ref, name=name, params=raw), timeout_s)
        return _checked(reply, params or {})

    async def attach(
        self, session: str, *, epoch: int = 0, after: int = 0, last: int = 0, previews: bool = True
    ) -> tuple[wire.ReplyLine, Feed]:
        """Follow a session: the reply, and the feed of what comes after it."""
        ref = self._link.next_ref()
        feed = self._link.expect_feed(ref, session)
        message = wire.Attach(
            ref=ref, session=session, epoch=epoch, after=after, last=last, previews=previews
        )
        try:
            reply = _checked(await self._call(ref, message, REPLY_S), {"session": session})
        except BaseException:
            await self.detach(feed)
            raise
        return reply, feed

    async def detach(self, feed: Feed) -> None:
        """Stop following. Harmless when the attachment or the connection is gone already."""
        if self._link.drop_feed(feed) and not self.closed:
            self._link.write_soon(wire.encode(wire.Detach(session=feed.session)))

    async def close(self) -> None:
        """Hang up; whoever still waits for something gets an error."""
        await self._link.close()

    async def _call(
        self, ref: str, message: wire.ClientMessage, timeout_s: float
    ) -> wire.ReplyLine:
        answer = self._link.expect_reply(ref)
        try:
            async with asyncio.timeout(timeout_s):
                await self._link.write(wire.encode(message))
                return await answer
        except TimeoutError as error:
            raise GatewayUnreachableError(f"no answer within {timeout_s:.0f} s") from error
        finally:
            self._link.forget_reply(ref)


def _checked(reply: wire.ReplyLine, context: Mapping[str, object]) -> wire.ReplyLine:
    if reply.error:
        raise to_error(reply, context)
    return reply


async def _dial(state: StateDir) -> _Link:
    loop = asyncio.get_running_loop()
    try:
        state.check()
        with state.socket_address() as address:
            _, link = await loop.create_unix_connection(_Link, address)
    # BlockingIOError: its backlog is full, which is a moment's matter
    except (FileNotFoundError, ConnectionError, BlockingIOError) as error:
        raise GatewayUnreachableError(f"no gateway answers at {state.socket}") from error
    except OSError as error:
        raise GatewayError(f"cannot connect to {state.socket}: {error.strerror}") from error
    owner = link.peer_uid()
    if owner is not None and owner != os.geteuid():
        link.abort()
        raise GatewayError(f"the gateway at {state.socket} runs as user {owner}, not as you")
    return link


class _Link(asyncio.Protocol):
    """The socket's side of a connection: cuts lines and sorts them."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.lost: FlybridgeError | None = None
        self.welcome: asyncio.Future[wire.Welcome] = loop.create_future()
        self._lines = StrictLineSplitter()
        self._replies: dict[str, asyncio.Future[wire.ReplyLine]] = {}
        self._feeds: dict[str, Feed] = {}
        self._opening: dict[str, Feed] = {}  # by the ref of the attach: open from its reply on
        self._refs = 0
        self._complaint = ""
        self._writable = asyncio.Event()
        self._writable.set()
        self._gone = asyncio.Event()
        self._transport: asyncio.Transport

    # ---- asyncio's side --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            for line in self._lines.receive(data):
                self._sort(wire.decode_gateway(line), len(line))
        except RemoteProtocolError as error:
            self._lose(error)
            self._transport.abort()
            return
        self._regulate()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        said = f": {self._complaint}" if self._complaint else ""
        self._lose(GatewayUnreachableError(f"the connection to the gateway was lost{said}"))
        self._gone.set()

    # ---- the connection's side --------------------------------------------------------------

    def next_ref(self) -> str:
        self._refs += 1
        return str(self._refs)

    def expect_reply(self, ref: str) -> asyncio.Future[wire.ReplyLine]:
        self._replies[ref] = asyncio.get_running_loop().create_future()
        self._regulate()
        return self._replies[ref]

    def forget_reply(self, ref: str) -> None:
        answer = self._replies.pop(ref, None)
        if answer is not None:
            answer.cancel()
        self._regulate()

    def expect_feed(self, ref: str, session: str) -> Feed:
        if session in self._feeds or any(f.session == session for f in self._opening.values()):
            raise LocalProtocolError(f"session {session} is attached already")
        self._opening[ref] = feed = Feed(session, self._regulate)
        return feed

    def drop_feed(self, feed: Feed) -> bool:
        """Forget a feed; whether the gateway may still hold the attachment."""
        held = self._feeds.get(feed.session) is feed
        if held:
            del self._feeds[feed.session]
        asked = [ref for ref, one in self._opening.items() if one is feed]
        for ref in asked:
            del self._opening[ref]
        feed.end(LocalProtocolError(f"session {feed.session} was detached"))
        self._regulate()
        return held or bool(asked)

    async def write(self, message: bytes) -> None:
        """Send one message; waits while the gateway takes nothing."""
        await self._writable.wait()
        self.write_soon(message)

    def write_soon(self, message: bytes) -> None:
        if self.lost is not None:
            raise self.lost
        self._transport.write(message + b"\n")

    def peer_uid(self) -> int | None:
        """Who listens on the other side, where the system tells."""
        option = getattr(socket, "SO_PEERCRED", None)
        if option is None:
            return None
        peer: socket.socket = self._transport.get_extra_info("socket")
        _, uid, _ = struct.unpack("iII", peer.getsockopt(socket.SOL_SOCKET, option, 12))
        return int(uid)

    def abort(self) -> None:
        self.welcome.cancel()
        self._transport.abort()

    async def close(self) -> None:
        self._lose(GatewayUnreachableError("the connection was closed"))
        self._transport.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._gone.wait()
        except TimeoutError:  # it does not take our last bytes
            self._transport.abort()
            await self._gone.wait()

    # ---- sorting -----------------------------------------------------------------------------

    def _sort(self, message: wire.GatewayMessage | wire.OtherLine, size: int) -> None:
        match message:
            case wire.EventLine() | wire.PreviewLine() | wire.GaugeLine() | wire.ViewLine():
                feed = self._feeds.get(message.session)
                if feed is not None:  # else: on its way when we detached
                    self._put(feed, message, size)
            case wire.ReplyLine():
                self._replied(message)
            case wire.DetachedLine(session=session):
                feed = self._feeds.pop(session, None)
                if feed is not None:
                    self._end(feed, message, size)
            case wire.Welcome():
                if not self.welcome.done():
                    self.welcome.set_result(message)
            case wire.ErrorLine(code=code, message=text):
                self._complaint = text or code  # why it is about to hang up, if it does
                _fail(self.welcome, GatewayError(f"the gateway refused us: {text or code}"))
            case wire.OtherLine():
                pass

    def _replied(self, reply: wire.ReplyLine) -> None:
        feed = self._opening.pop(reply.ref, None)
        if feed is not None and not reply.error:
            self._feeds[feed.session] = feed
        answer = self._replies.get(reply.ref)
        if answer is not None and not answer.done():
            answer.set_result(reply)

    def _put(self, feed: Feed, line: SessionLine, size: int) -> None:
        feed.put(line, size)
        if feed.lagged:
            del self._feeds[feed.session]
            self._end(feed, wire.DetachedLine(session=feed.session, code=LAGGED), 0)
            self.write_soon(wire.encode(wire.Detach(session=feed.session)))

    @staticmethod
    def _end(feed: Feed, line: wire.DetachedLine, size: int) -> None:
        feed.put(line, size)
        feed.end(LocalProtocolError(f"session {feed.session} is no longer attached"))

    def _regulate(self) -> None:
        """Read on, unless somebody lags and nobody waits for a reply."""
        if self.lost is not None:
            return
        lagging = any(feed.full for feed in self._feeds.values())
        if lagging and not self._replies:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def _lose(self, error: FlybridgeError) -> None:
        if self.lost is not None:
            return
        self.lost = error
        _fail(self.welcome, error)
        for answer in self._replies.values():
            _fail(answer, error)
        for feed in (*self._feeds.values(), *self._opening.values()):
            feed.end(error)
        self._feeds.clear()
        self._opening.clear()
        self._writable.set()


def _fail(waiting: asyncio.Future[Any], error: FlybridgeError) -> None:
    if not waiting.done():
        waiting.set_exception(error)
        waiting.exception()  # seen: nobody may be waiting any more, and that is no news
