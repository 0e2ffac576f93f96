"""A transport that goes nowhere: it keeps what is written, and takes it when it is told to."""

from __future__ import annotations

import asyncio
from typing import Any

HIGH = 256 * 1024


class LooseTransport(asyncio.Transport):
    """``stuck``: nothing is taken, as with a peer that does not read."""

    def __init__(self, *, stuck: bool = False) -> None:
        super().__init__({"peername": ("198.51.100.1", 1), "sockname": ("198.51.100.2", 2)})
        self.protocol: asyncio.Protocol
        self.writes: list[bytes] = []
        self.stuck = stuck
        self.reading = True
        self.eof = False
        self.closing = False
        self._buffered = 0
        self._high = HIGH
        self._paused = False

    def connect(self, protocol: asyncio.Protocol) -> None:
        self.protocol = protocol
        protocol.connection_made(self)

    @property
    def written(self) -> bytes:
        return b"".join(self.writes)

    def write(self, data: Any) -> None:
        assert not self.eof, "words after the last one"
        self.writes.append(data)
        if self.stuck:
            self._buffered += len(data)
        if self._buffered > self._high and not self._paused:
            self._paused = True
            self.protocol.pause_writing()

    def drain(self) -> None:
        """The peer reads all there is."""
        self._buffered = 0
        if self._paused:
            self._paused = False
            self.protocol.resume_writing()

    def get_write_buffer_size(self) -> int:
        return self._buffered

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = HIGH if high is None else high

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.eof = True

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self.closing:
            self.closing = True
            self.protocol.connection_lost(None)
