"""The Unix-socket door: the native protocol as plain lines, for everyone on this machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable, Sequence

from flybridge.auth.peer import caller_of
from flybridge.errors import FlybridgeError
from flybridge.listeners.connection import LINGER_S, NativeClient, NativeDoor, Requests, Speak
from flybridge.wire.native.messages import ErrorLine, encode

MAX_CLIENTS = 512
HELLO_S = 10.0


def lines(messages: Sequence[bytes]) -> bytes:
    """Messages as they go over a stream."""
    return b"\n".join((*messages, b""))


class Door(NativeDoor):
    """Accepts clients and knows how many there are."""

    def __init__(
        self,
        desk: Requests,
        *,
        speak: Speak,
        keepers: Callable[[], Iterable[tuple[int, str]]],
        now_ms: Callable[[], int],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(desk, join=lines, speak=speak, now_ms=now_ms, changed=changed)
        self.keepers = keepers

    def make(self) -> UnixClient:
        return UnixClient(self)


class UnixClient(NativeClient):
    """One connection."""

    def __init__(self, door: Door) -> None:
        super().__init__(door)
        self._keepers = door.keepers
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.open(transport)
        try:
            if len(self._door.clients) >= MAX_CLIENTS:
                raise FlybridgeError("too many clients")
            sock: socket.socket = transport.get_extra_info("socket")
            caller = caller_of(sock, self._keepers())
        except FlybridgeError as error:
            self._write(encode(ErrorLine(code=error.code, message=str(error))))
            self.hang_up()
            return
        self.admit(caller)
        loop = asyncio.get_running_loop()
        self._deadline = loop.call_later(HELLO_S, self.hang_up)

    def data_received(self, data: bytes) -> None:
        goes_on = self.take(data)
        if self._deadline is not None and self.greeted:
            self._deadline.cancel()
            self._deadline = None
        if not goes_on:
            self.hang_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self._deadline is not None:
            self._deadline.cancel()
        self.leave()

    def hang_up(self) -> None:
        self.flush()
        if self.transport is not None:
            self.transport.close()
            if self.transport.get_write_buffer_size():  # it may never take that
                asyncio.get_running_loop().call_later(LINGER_S, self.transport.abort)
