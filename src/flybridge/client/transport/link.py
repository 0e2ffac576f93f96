"""The socket's side of a connection: messages in and out, each sorted to whom it is for.

There is no task behind it: bytes that arrive are sorted at once into the future of the request
they answer or the feed of the session they belong to. A reader that lags stops the socket from
being read, except while a reply is awaited: a reader that asks something in between would
otherwise wait for itself. What piles up then is bounded too; beyond that the attachment ends
with the code ``lagged``.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, cast

from flybridge.client.transport.feed import Feed, SessionLine
from flybridge.client.transport.framing import Framing
from flybridge.errors import (
    FlybridgeError,
    GatewayError,
    GatewayUnreachableError,
    LocalProtocolError,
    RemoteProtocolError,
)
from flybridge.wire.native import messages as wire

LAGGED: Final = "lagged"
CLOSE_S = 1.0
PING_S = 20.0  # of silence, before a sign of life is asked for; as long again, and it is lost


class Link(asyncio.Protocol):
    """One connection, whatever it runs over: ``framing`` knows how messages travel there."""

    def __init__(self, framing: Framing, *, ping_s: float = PING_S) -> None:
        loop = asyncio.get_running_loop()
        self.lost: FlybridgeError | None = None
        self.welcome: asyncio.Future[wire.Welcome] = loop.create_future()
        self._framing = framing
        self._ping_s = ping_s
        self._replies: dict[str, asyncio.Future[wire.ReplyLine]] = {}
        self._feeds: dict[str, Feed] = {}
        self._opening: dict[str, Feed] = {}  # by the ref of the attach: open from its reply on
        self._refs = 0
        self._complaint = ""
        self._paused = False
        self._heard = True
        self._timer: asyncio.TimerHandle | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._gone = asyncio.Event()
        self._transport: asyncio.Transport

    # ---- asyncio's side --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._write_ready()
        self._timer = asyncio.get_running_loop().call_later(self._ping_s, self._watch)

    def data_received(self, data: bytes) -> None:
        self._heard = True
        try:
            for message in self._framing.receive(data):
                self._sort(wire.decode_gateway(message), len(message))
        except RemoteProtocolError as error:
            self._lose(error)
            self._transport.abort()
            return
        self._write_ready()
        if self._framing.over is not None:
            self._lose(self._framing.over)
            self._transport.close()
        self._regulate()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        said = f": {self._complaint}" if self._complaint else ""
        self._lose(GatewayUnreachableError(f"the connection to the gateway was lost{said}"))
        if self._timer is not None:
            self._timer.cancel()
        self._gone.set()

    def _watch(self) -> None:
        """A machine that vanished says nothing: ask for a sign of life, and wait as long again."""
        if self.lost is not None:
            return
        if not self._heard and not self._paused:  # while we do not read, we cannot hear
            self._lose(GatewayUnreachableError("the gateway gives no sign of life"))
            self._transport.abort()
            return
        self._heard = False
        if self._framing.ping():
            self._write_ready()
            self._timer = asyncio.get_running_loop().call_later(self._ping_s, self._watch)

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
        self._framing.send(message)
        self._write_ready()

    def _write_ready(self) -> None:
        if data := self._framing.take():
            self._transport.write(data)

    def peer(self, what: str) -> Any:
        """What the system knows of the other side."""
        return self._transport.get_extra_info(what)

    def abort(self) -> None:
        self.welcome.cancel()
        self._transport.abort()

    async def close(self) -> None:
        self._lose(GatewayUnreachableError("the connection was closed"))
        if not self._transport.is_closing():
            self._framing.close()
            self._write_ready()
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
        self._paused = lagging and not self._replies
        if self._paused:
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
