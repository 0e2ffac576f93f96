"""Signals that end a run before its loop is there to end it."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from flybridge.cli import early_signals

MAX_READS = 64
READ_BYTES = 1 << 16
_T = TypeVar("_T")


class SignalledError(Exception):
    """A signal asked the program to end; ``args[0]`` is the signal's name."""


class EarlySignals:
    """Handles the ending signals until the run's loop installs handlers of its own.

    ``name`` is that of the first signal that came, also of one that came before this object.
    """

    def __init__(self) -> None:
        self._came: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.name = ""
        for number in early_signals.ending():
            asyncio.get_running_loop().add_signal_handler(number, self._signalled, number)
        for number in early_signals.held:
            self._signalled(number)

    def _signalled(self, number: signal.Signals) -> None:
        self.name = self.name or number.name
        if not self._came.done():
            self._came.set_result(None)

    async def unless(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return what ``work`` returns.

        Raises:
            SignalledError: a signal came first; ``work`` was cancelled.
        """
        task = asyncio.ensure_future(work)
        either: set[asyncio.Future[Any]] = {task, self._came}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self.name:
            return await task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise SignalledError(self.name)

    def release(self) -> None:
        """Restore the default handlers.

        Raises:
            SignalledError: a signal came before.
        """
        for number in early_signals.ENDING:
            asyncio.get_running_loop().remove_signal_handler(number)
        if self.name:
            raise SignalledError(self.name)


def available(fd: int) -> bytes:
    """Return what can be read at once, within a bound: it may name the run."""
    found = b""
    for _ in range(MAX_READS):
        if not select.select([fd], [], [], 0)[0]:
            break
        data = os.read(fd, READ_BYTES)
        found += data
        if not data or b"\n" in data:
            break
    return found
