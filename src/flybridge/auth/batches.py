"""Answer many callers with one piece of expensive work, and bound what that costs.

Whoever asks while the work runs waits for the next run, which answers all of them at once: an
answer is never older than its question. Runs follow each other freely for a moment; then they may
take a fixed share of one processor, however many ask.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Generic, TypeVar

MAX_WAITING = 256
SHARE = 0.25  # of a processor, in the long run
BURST_S = 2.0  # of work at once

K = TypeVar("K")
V = TypeVar("V")


class TooManyWaitingError(Exception):
    """Raised for a caller that there is no room for."""


class Batches(Generic[K, V]):
    """Runs ``work`` in a thread, once at a time, for all keys that are asked for."""

    def __init__(self, work: Callable[[Collection[K]], Mapping[K, V]]) -> None:
        self._work = work
        self._waiting: dict[K, asyncio.Future[V | None]] = {}
        self._running: asyncio.Task[None] | None = None
        self._left_s = BURST_S
        self._as_of_s = time.monotonic()

    async def get(self, key: K) -> V | None:
        """Return what the next run finds out about ``key``; None if that is nothing.

        Raises:
            TooManyWaitingError: too many callers wait already.
        """
        if key not in self._waiting:
            if len(self._waiting) >= MAX_WAITING:
                raise TooManyWaitingError
            self._waiting[key] = asyncio.get_running_loop().create_future()
        waiting = self._waiting[key]
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._run())
        return await asyncio.shield(waiting)  # one caller that leaves does not stop the others

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._pause_s())
            batch, self._waiting = self._waiting, {}
            try:
                found = await asyncio.to_thread(self._measured, tuple(batch))
            except Exception as error:
                for waiting in batch.values():
                    waiting.set_exception(error)
                    waiting.exception()  # it is logged by whoever still waits
            else:
                for key, waiting in batch.items():
                    waiting.set_result(found.get(key))

    def _measured(self, keys: tuple[K, ...]) -> Mapping[K, V]:
        began_s = time.thread_time()
        try:
            return self._work(keys)
        finally:
            self._left_s -= time.thread_time() - began_s

    def _pause_s(self) -> float:
        """Return how long to wait so that all runs together stay within their share."""
        now_s = time.monotonic()
        self._left_s = min(BURST_S, self._left_s + (now_s - self._as_of_s) * SHARE)
        self._as_of_s = now_s
        return max(0.0, -self._left_s / SHARE)
