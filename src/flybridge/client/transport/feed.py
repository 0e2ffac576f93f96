"""What has arrived for one attachment and was not taken yet."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from flybridge.wire.native.messages import (
    DetachedLine,
    EventLine,
    GaugeLine,
    PreviewLine,
    ViewLine,
)

SessionLine: TypeAlias = EventLine | PreviewLine | GaugeLine | ViewLine | DetachedLine

FULL_BYTES = 4 * 2**20  # from here on the socket is not read
LAGGED_BYTES = 64 * 2**20  # from here on nothing more is kept, not even for a pending request
LINE_COST = 256  # what a queued line takes besides its bytes


class Feed:
    """A bounded queue with one reader. ``drained`` is called when there is room again."""

    def __init__(self, session: str, drained: Callable[[], None]) -> None:
        self.session = session
        self._drained = drained
        self._lines: deque[tuple[SessionLine, int]] = deque()
        self._bytes = 0
        self._arrived = asyncio.Event()
        self._end: Exception | None = None

    @property
    def full(self) -> bool:
        return self._bytes >= FULL_BYTES

    @property
    def lagged(self) -> bool:
        return self._bytes >= LAGGED_BYTES

    def put(self, line: SessionLine, size: int) -> None:
        self._lines.append((line, size + LINE_COST))
        self._bytes += size + LINE_COST
        self._arrived.set()

    def end(self, error: Exception) -> None:
        """Nothing more comes; the reader gets ``error`` once it has taken what is there."""
        if self._end is None:
            self._end = error
            self._arrived.set()

    async def get(self) -> SessionLine:
        """Wait for the next line.

        Raises:
            FlybridgeError: the one the feed was ended with.
        """
        while not self._lines:
            if self._end is not None:
                raise self._end
            self._arrived.clear()
            await self._arrived.wait()
        line, size = self._lines.popleft()
        was_full = self.full
        self._bytes -= size
        if was_full and not self.full:
            self._drained()
        return line
