"""The Unix-socket door: the native protocol as plain lines, for everyone on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable

from flybridge.adapters.native.adapter import NativeAdapter
from flybridge.errors import FlybridgeError
from flybridge.model.deliveries import Batch, Reply, Shown, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Request
from flybridge.runtime.caller import Caller
from flybridge.runtime.desk import Desk
from flybridge.runtime.hub import Subscription
from flybridge.server.peer import caller_of
from flybridge.wire.native.messages import DetachedLine, ErrorLine, Welcome, encode

HIGH_WATER = 256 * 1024
MAX_PENDING = 256  # requests of one client that have no reply yet
MAX_CLIENTS = 512
HELLO_S = 10.0


class Door:
    """Accepts clients and knows how many there are."""

    def __init__(
        self,
        desk: Desk,
        *,
        welcome: Callable[[Caller], Welcome],
        keepers: Callable[[], Iterable[tuple[int, str]]],
        now_ms: Callable[[], int],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.desk = desk
        self.welcome = welcome
        self.keepers = keepers
        self.now_ms = now_ms
        self.changed = changed
        self.clients: set[UnixClient] = set()

    def make(self) -> UnixClient:
        return UnixClient(self)

    def close(self, code: str = "") -> None:
        """Hang up on everyone; with a ``code``, tell them first that they need not come back."""
        for client in list(self.clients):
            if code:
                for session in list(client.subscriptions):
                    client.detached(session, code)
            client.hang_up()


class UnixClient(asyncio.Protocol):
    """One connection. Everything written within one tick leaves in one write."""

    caller: Caller

    def __init__(self, door: Door) -> None:
        self._door = door
        self.subscriptions: dict[SessionId, Subscription] = {}
        self._transport: asyncio.Transport | None = None
        self._adapter: NativeAdapter | None = None
        self._out: list[bytes] = []
        self._flushing = False
        self._paused = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._deadline: asyncio.TimerHandle | None = None

    # ---- the transport -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)
        try:
            if len(self._door.clients) >= MAX_CLIENTS:
                raise FlybridgeError("too many clients")
            sock: socket.socket = transport.get_extra_info("socket")
            self.caller = caller_of(sock, self._door.keepers())
        except FlybridgeError as error:
            self._write(encode(ErrorLine(code=error.code, message=str(error))))
            self.hang_up()
            return
        self._adapter = NativeAdapter(welcome=self._door.welcome(self.caller))
        self._door.clients.add(self)
        self._door.changed()
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(HELLO_S, self.hang_up)

    def data_received(self, data: bytes) -> None:
        adapter = self._adapter
        if adapter is None:
            return
        for request in adapter.receive(data, self._door.now_ms()):
            self._start(request)
        if self._deadline is not None and adapter.greeted:
            self._deadline.cancel()
            self._deadline = None
        for message in adapter.take():
            self._write(message)
        if adapter.closed:
            self.hang_up()

    def _start(self, request: Request) -> None:
        task = asyncio.ensure_future(self._door.desk.handle(self, request))
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        if len(self._tasks) >= MAX_PENDING and self._transport is not None:
            self._transport.pause_reading()

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if len(self._tasks) == MAX_PENDING - 1 and self._transport is not None:
            self._transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._deadline is not None:
            self._deadline.cancel()
        self._door.clients.discard(self)
        self._door.desk.gone(self)
        for task in self._tasks:  # what was submitted is committed; only the reply is not wanted
            task.cancel()
        self._door.changed()

    def pause_writing(self) -> None:
        self._paused = True

    def resume_writing(self) -> None:
        self._paused = False
        self._door.desk.drained(self)

    def hang_up(self) -> None:
        self._flush()
        if self._transport is not None:
            self._transport.close()

    # ---- deliveries --------------------------------------------------------------------------

    @property
    def writable(self) -> bool:
        return not self._paused and self._transport is not None

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
        self._out.append(message)
        if not self._flushing:
            self._flushing = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        self._flushing = False
        out, self._out = self._out, []
        if out and self._transport is not None and not self._transport.is_closing():
            out.append(b"")
            self._transport.write(b"\n".join(out))
