"""What clients of every door share: requests in, deliveries out, both bounded.

A door is a transport and a way to tell who is at the other end; the rest is here. Whatever is
written within one tick leaves in one write. A client that has the same to get as the one before
it gets the very same bytes.

A client that does not read is still listened to: its interrupts must come through. What it may
cost is bounded all the same. Answers to asks can be long, so one ask is begun per tick, and none
while the last answer has not been taken; when replies pile up nevertheless, it is not listened
to either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from msgspec import Raw

from flybridge.model.deliveries import Batch, Reply, Shown, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Request
from flybridge.runtime.broadcaster import Subscription
from flybridge.runtime.dispatcher import Client
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Adapter
from flybridge.wire.native.messages import MAX_LINE_BYTES, DetachedLine, encode

HIGH_WATER = 256 * 1024  # beyond it a client gets nothing new from its sessions
PILE_BYTES = 128 * 1024  # of replies on top of that; beyond it nothing more is read from it
LONG_ANSWER = 64 * 1024
LINGER_S = 1.0  # that somebody has to take our last words
MAX_PENDING = 256  # requests of one client that have no reply yet


class Requests(Protocol):
    """Where requests go: the desk."""

    async def handle(self, client: Client, request: Request) -> None: ...
    def gone(self, client: Client) -> None: ...
    def drained(self, client: Client) -> None: ...


class Speaker(Adapter, Protocol):
    """An adapter that knows when a conversation has begun, and when it makes no sense."""

    closed: bool
    greeted: bool


Speak: TypeAlias = Callable[[Caller, int], Speaker]  # for a caller, lines of at most so many bytes


class SharedWrites:
    """Joins what is ready into what is written, once for all who have the same ready."""

    def __init__(self, join: Callable[[Sequence[bytes]], bytes]) -> None:
        self._join = join
        self._ready: list[bytes] = []
        self._joined = b""

    def join(self, ready: list[bytes]) -> bytes:
        if ready != self._ready:  # the same objects, mostly: compared without a look inside
            self._ready, self._joined = ready, self._join(ready)
        return self._joined

    def forget(self) -> None:
        self._ready, self._joined = [], b""


class NativeDoor:
    """Knows the clients that came in by one way, and writes to all of them once per tick."""

    def __init__(
        self,
        desk: Requests,
        *,
        join: Callable[[Sequence[bytes]], bytes],
        speak: Speak,
        now_ms: Callable[[], int],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.desk = desk
        self.speak = speak
        self.now_ms = now_ms
        self.changed = changed
        self.clients: set[NativeClient] = set()
        self.writes = SharedWrites(join)
        self._ready: list[NativeClient] = []

    def close(self, code: str = "") -> None:
        """Hang up on everyone; with a ``code``, tell them first that they need not come back."""
        for client in list(self.clients):
            if code:
                for session in list(client.subscriptions):
                    client.detached(session, code)
            client.hang_up()

    def flush_soon(self, client: NativeClient) -> None:
        """Write what the client has ready at the end of this tick."""
        if not self._ready:
            asyncio.get_running_loop().call_soon(self._flush)
        self._ready.append(client)

    def _flush(self) -> None:
        ready, self._ready = self._ready, []
        for client in ready:
            client.flush()
        self.writes.forget()


class NativeClient(asyncio.Protocol):
    """One connection. A door makes it, gives it a transport and tells it who it is."""

    caller: Caller

    def __init__(self, door: NativeDoor) -> None:
        self._door = door
        self.subscriptions: dict[SessionId, Subscription] = {}
        self.transport: asyncio.Transport | None = None
        self._adapter: Speaker | None = None
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._paused = False
        self._pile = 0  # how much may wait to be written before nothing more is read
        self._tasks: set[asyncio.Task[None]] = set()
        self._asks: list[Ask] = []  # few, and mostly none: a deque would weigh more than the rest
        self._asked_bytes = 0
        self._asking = False

    # ---- coming and going --------------------------------------------------------------------

    def open(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def admit(self, caller: Caller, *, max_line: int = MAX_LINE_BYTES) -> None:
        """It is known who this is; what they say counts from here on."""
        self.caller = caller
        self._adapter = self._door.speak(caller, max_line)
        self._door.clients.add(self)
        self._door.changed()

    def leave(self) -> None:
        """Nothing is taken from it or given to it any more."""
        if self._adapter is None:
            return
        self._adapter = None
        self._door.clients.discard(self)
        self._door.desk.gone(self)
        self._asks.clear()
        for task in self._tasks:  # what was submitted is committed; only the reply is not wanted
            task.cancel()
        self._door.changed()

    def hang_up(self) -> None:
        """Write what is ready, then end the connection."""
        raise NotImplementedError

    def may_ask(self) -> bool:
        """Whether the caller still is who it was when it came; asked before each request."""
        return True

    @property
    def greeted(self) -> bool:
        return self._adapter is not None and self._adapter.greeted

    # ---- requests ----------------------------------------------------------------------------

    def take(self, data: bytes) -> bool:
        """Carry out what the client says; False when it is no client of ours."""
        adapter = self._adapter
        if adapter is None:
            return True
        for request in adapter.receive(data, self._door.now_ms()):
            if isinstance(request, Ask):
                self._asks.append(request)
                self._asked_bytes += _size(request)
            else:
                self._start(request)
        if not self._asking:
            self._next_ask()
        for message in adapter.take():
            self._write(message)
        self._regulate()
        return not adapter.closed

    def _next_ask(self) -> None:
        """Begin one ask; the others wait for the next tick, or until its answer was taken."""
        self._asking = False
        if self._out_bytes > LONG_ANSWER:
            self.flush()  # so that we know whether it is taken
        if self._asks and self.writable and len(self._tasks) < MAX_PENDING:
            ask = self._asks.pop(0)
            self._asked_bytes -= _size(ask)
            self._start(ask)
            self._ask_soon()
        self._regulate()

    def _ask_soon(self) -> None:
        if not self._asking:
            self._asking = True
            asyncio.get_running_loop().call_soon(self._next_ask)

    def _start(self, request: Request) -> None:
        if self._adapter is None or not self.may_ask():
            return
        task = asyncio.ensure_future(self._door.desk.handle(self, request))
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._asks:
            self._ask_soon()
        self._regulate()

    @property
    def _busy(self) -> bool:
        """Whether we are the ones who have something to do first."""
        return len(self._tasks) + len(self._asks) >= MAX_PENDING

    def _regulate(self) -> None:
        """Read on, unless the client has enough under way, or takes nothing of what it gets."""
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        piled = self._paused and transport.get_write_buffer_size() > self._pile
        if self._busy or piled or self._asked_bytes > HIGH_WATER:
            transport.pause_reading()
        else:
            transport.resume_reading()

    # ---- the transport's pressure ------------------------------------------------------------

    def pause_writing(self) -> None:
        self._paused = True
        if self.transport is not None:
            self._pile = self.transport.get_write_buffer_size() + PILE_BYTES

    def resume_writing(self) -> None:
        self._paused = False
        self._door.desk.drained(self)
        if self._asks:
            self._ask_soon()
        self._regulate()

    @property
    def writable(self) -> bool:
        return not self._paused and self._adapter is not None

    # ---- deliveries --------------------------------------------------------------------------

    def batch(self, batch: Batch) -> None:
        self._write(batch.wire)

    def shown(self, shown: Shown, wire: bytes) -> None:
        self._write(wire)

    def view(self, view: View, wire: bytes) -> None:
        self._write(wire)

    def detached(self, session: SessionId, code: str) -> None:
        self.subscriptions.pop(session, None)
        self._write(encode(DetachedLine(session=session, code=code)))

    def reply(self, reply: Reply) -> None:
        if self._adapter is not None:
            self._adapter.deliver(reply, self._door.now_ms())
            for message in self._adapter.take():
                self._write(message)

    def _write(self, message: bytes) -> None:
        if not self._out:
            self._door.flush_soon(self)
        self._out.append(message)
        self._out_bytes += len(message)
        if self._out_bytes > HIGH_WATER:  # find out now whether it takes more
            self.flush()

    def flush(self) -> None:
        """Write what is ready."""
        out, self._out = self._out, []
        self._out_bytes = 0
        if out and self.transport is not None and not self.transport.is_closing():
            self.transport.write(self._door.writes.join(out))


def _size(ask: Ask) -> int:
    return len(bytes(ask.params)) if isinstance(ask.params, Raw) else 0
