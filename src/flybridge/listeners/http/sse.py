"""Server-sent events: a session's log and what is shown of it, for plain HTTP clients.

Every event is a frame whose id is ``epoch:seq``, so that a client which comes back with the
last one it saw misses nothing and gets nothing twice. What is merely shown has no id, and so
leaves the client's place where it was. A client is a cursor of the hub like any other: one
that does not read costs its buffer, and is fed from the log when it reads again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET

from flybridge.auth.authority import Authority
from flybridge.listeners.http.problems import STATUS, HttpError
from flybridge.model.deliveries import Batch, Reply, Shown, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Attach
from flybridge.runtime.broadcaster import Subscription
from flybridge.runtime.dispatcher import Desk
from flybridge.session.authorisation import Caller
from flybridge.wire.native.messages import DetachedLine, encode

HIGH_WATER = 256 * 1024
KEEP_ALIVE_S = 15.0
LAST_WORD_S = 0.5  # for a client that does not read, until its connection is given up
MAX_STREAMS = 512
MAX_PER_PRINCIPAL = 64
KEEP_ALIVE = b": still here\n\n"
Send: TypeAlias = Callable[[bytes], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Frames:
    """Puts deliveries into frames: the same bytes for all who get the same."""

    def __init__(self) -> None:
        self._batch: Batch | None = None
        self._framed = b""

    def of(self, batch: Batch) -> bytes:
        if batch is not self._batch:
            self._batch, self._framed = batch, framed(batch)
        return self._framed


def framed(batch: Batch) -> bytes:
    lines = _one_line(batch.wire).split(b"\n")
    return b"".join(
        b"id: %d:%d\ndata: %b\n\n" % (batch.epoch, seq, line)
        for seq, line in enumerate(lines, batch.first_seq)
    )


def _one_line(wire: bytes) -> bytes:
    """A CR ends a line here; in JSON it can only stand between tokens, where a space does."""
    return wire.replace(b"\r", b" ") if b"\r" in wire else wire


class SseClient:
    """One stream, as desk and hub see it."""

    def __init__(self, caller: Caller, frames: Frames) -> None:
        self.caller = caller
        self.subscriptions: dict[SessionId, Subscription] = {}
        self.error: Reply | None = None
        self.ended = False
        self._frames = frames
        self._out: list[bytes] = []
        self._size = 0
        self._ready = asyncio.Event()

    @property
    def writable(self) -> bool:
        return self._size < HIGH_WATER and not self.ended

    def batch(self, batch: Batch) -> None:
        self._put(self._frames.of(batch))

    def shown(self, shown: Shown, wire: bytes) -> None:
        self._put(b"data: %b\n\n" % _one_line(wire))

    def view(self, view: View, wire: bytes) -> None:
        self._put(b"data: %b\n\n" % _one_line(wire))

    def detached(self, session: SessionId, code: str) -> None:
        self.subscriptions.pop(session, None)
        self._put(b"data: %b\n\n" % encode(DetachedLine(session=session, code=code)))
        self.end()

    def reply(self, reply: Reply) -> None:
        """The one reply there is: to having been attached."""
        if reply.error:
            self.error = reply
        elif reply.value is not UNSET:
            told = {"type": "attached", **msgspec.json.decode(reply.value)}
            self._put(b"data: %b\n\n" % msgspec.json.encode(told))

    def end(self) -> None:
        """Say what is ready, and no more."""
        self.ended = True
        self._ready.set()

    def beat(self) -> None:
        """Nothing may be between us and the client but silence: make some noise."""
        if not self._out:
            self._put(KEEP_ALIVE)

    def _put(self, frame: bytes) -> None:
        if not self.ended:
            self._out.append(frame)
            self._size += len(frame)
            self._ready.set()

    async def take(self) -> bytes:
        """All that is ready, as one chunk; nothing once it is over."""
        while not self._out and not self.ended:
            self._ready.clear()
            await self._ready.wait()
        out, self._out, self._size = self._out, [], 0
        return b"".join(out)


class Streams:
    """All streams of one gateway."""

    def __init__(
        self, desk: Desk, authority: Authority, *, keep_alive_s: float = KEEP_ALIVE_S
    ) -> None:
        self._desk = desk
        self._authority = authority
        self._keep_alive_s = keep_alive_s
        self._frames = Frames()
        self._open: set[SseClient] = set()
        self._by_principal: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def close(self) -> None:
        """End every stream; whoever wants to go on comes back."""
        for client in list(self._open):
            client.end()

    async def attach(self, caller: Caller, request: Attach) -> SseClient:
        """Follow a session.

        Raises:
            HttpError: there is no such session, or there are too many streams.
        """
        if (
            len(self._open) >= MAX_STREAMS
            or self._by_principal[caller.principal] >= MAX_PER_PRINCIPAL
        ):
            raise HttpError(429, "too_many_streams", "too many streams are open", retry_after="5")
        client = SseClient(caller, self._frames)
        await self._desk.handle(client, request)
        if client.error is not None:
            reply = client.error
            raise HttpError(STATUS.get(reply.error, 500), reply.error, reply.message)
        self._open.add(client)
        self._by_principal[caller.principal] += 1
        return client

    async def run(self, client: SseClient, send: Send, receive: Receive) -> None:
        """Write what there is, until the client, its credential or its session is gone."""
        task = asyncio.current_task()
        stop_watching = self._authority.watch(client.caller, lambda: self._revoked(client, task))
        leaving = asyncio.ensure_future(_until_gone(client, receive))
        try:
            await self._pump(client, send)
        except asyncio.CancelledError:
            if not client.ended:
                raise
        finally:
            leaving.cancel()
            stop_watching()
            self.drop(client)

    async def _pump(self, client: SseClient, send: Send) -> None:
        loop = asyncio.get_running_loop()
        while True:
            beat = loop.call_later(self._keep_alive_s, client.beat)
            try:
                chunk = await client.take()
            finally:
                beat.cancel()
            if not chunk or not self._authority.holds(client.caller):
                return
            await send(chunk)
            self._desk.drained(client)

    def drop(self, client: SseClient) -> None:
        """A stream is over, or was never begun."""
        self._desk.gone(client)
        if client in self._open:
            self._open.remove(client)
            self._by_principal[client.caller.principal] -= 1
            self._by_principal += Counter()  # drops the zeros

    @staticmethod
    def _revoked(client: SseClient, task: asyncio.Task[object] | None) -> None:
        """The credential was taken back: one that waits for us ends now, one we wait for soon."""
        client.end()
        if task is not None:
            asyncio.get_running_loop().call_later(LAST_WORD_S, task.cancel)


async def _until_gone(client: SseClient, receive: Receive) -> None:
    """A client says nothing on its stream, until it is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    client.end()
