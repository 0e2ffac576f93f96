"""Standard input and output of a program that talks to its parent, without waiting for either.

Each has a thread of its own, which ends with the process: a parent that writes nothing, or
reads nothing, must not keep us from hearing a signal.
"""

from __future__ import annotations

import asyncio
import os
import queue
import select
import threading

CHUNK = 1 << 16
CLOSE_S = 5.0


class Input:
    """:meth:`read` gives what came, and nothing once the other side is gone."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue(16)
        threading.Thread(target=self._run, name="stdin", daemon=True).start()

    async def read(self) -> bytes:
        return await self._chunks.get()

    def _run(self) -> None:
        while True:
            try:
                data = os.read(self._fd, CHUNK)
            except OSError:
                data = b""
            try:
                asyncio.run_coroutine_threadsafe(self._chunks.put(data), self._loop).result()
            except RuntimeError:  # the loop is closed: we are done
                return
            if not data:
                return


class Output:
    """:meth:`write` returns when everything was taken; ``gone`` is set when nobody reads."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._work: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        self.gone = asyncio.Event()
        threading.Thread(target=self._run, name="stdout", daemon=True).start()

    def reader_is_gone(self) -> bool:
        """Whether a write would fail: nobody has the other end of the pipe any more."""
        poll = select.poll()
        poll.register(self._fd, 0)  # errors are always reported
        return self.gone.is_set() or any(found & select.POLLERR for _, found in poll.poll(0))

    async def write(self, data: bytes) -> None:
        if data and not self.gone.is_set():
            done: asyncio.Future[None] = self._loop.create_future()
            self._work.put((data, done))
            await done

    def _run(self) -> None:
        while True:
            data, done = self._work.get()
            lost = not self._put(data)
            try:
                self._loop.call_soon_threadsafe(self._written, done, lost)
            except RuntimeError:  # the loop is closed: we are done
                return

    def _put(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError:
            return False
        return True

    def _written(self, done: asyncio.Future[None], lost: bool) -> None:
        if lost:
            self.gone.set()
        if not done.done():
            done.set_result(None)
