"""Standard input and output of a run, in threads: a pipe that stands still stops nothing else."""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Awaitable, Callable
from functools import partial

READ_BYTES = 1 << 16
MAX_UNWRITTEN = 1 << 20  # bytes; more, and whoever writes waits


class InputThread:
    """Hands over everything that can be read, then ``b""``; one read at a time."""

    def __init__(self, fd: int, give: Callable[[bytes], Awaitable[None]]) -> None:
        self._fd = fd
        self._give = give
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        data = b"."
        while data:
            try:
                data = os.read(self._fd, READ_BYTES)
            except OSError:
                data = b""
            try:
                asyncio.run_coroutine_threadsafe(self._hand_over(data), self._loop).result()
            except Exception:  # the loop is gone, and so is whoever wanted it
                return

    async def _hand_over(self, data: bytes) -> None:
        await self._give(data)


class OutputThread:
    """Writes lines in order, also across its two descriptors.

    ``broken`` is set when nobody reads the first one any more; whether anybody reads ``beside``
    does not matter.
    """

    def __init__(self, fd: int, on_broken: Callable[[], None], *, beside: int = 2) -> None:
        self.broken = False
        self._fd = fd
        self._beside = beside
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._unwritten = 0
        self._moved = asyncio.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def put(self, data: bytes, *, beside: bool = False) -> None:
        if not self.broken and data:
            self._unwritten += len(data)
            self._lines.put((self._beside if beside else self._fd, data))

    async def drained(self, upto: int = MAX_UNWRITTEN) -> None:
        """Wait until no more than so many bytes wait."""
        while self._unwritten > upto and not self.broken:
            self._moved.clear()
            await self._moved.wait()

    def _run(self) -> None:
        while True:
            fd, data = self._lines.get()
            try:
                _write_all(fd, data)
            except OSError:
                if fd == self._fd:
                    self._tell(self._broke)
                    return
            self._tell(partial(self._wrote, len(data)))

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:  # the loop is closed
            pass

    def _wrote(self, size: int) -> None:
        self._unwritten -= size
        self._moved.set()

    def _broke(self) -> None:
        self.broken = True
        self._moved.set()
        self._on_broken()


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
