"""How often, and for how long, to try again when no gateway answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from flybridge.errors import GatewayUnreachableError

PATIENCE_S = 60.0  # how long an outage may last
FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 1.0

_T = TypeVar("_T")


class Pauses:
    """How long to wait between attempts, and when to give up."""

    def __init__(self, patience_s: float) -> None:
        self._deadline = time.monotonic() + patience_s
        self._pause_s = FIRST_PAUSE_S

    async def wait(self, error: Exception) -> None:
        """Pause, a little longer each time; raise ``error`` when there is no time left."""
        if time.monotonic() + self._pause_s > self._deadline:
            raise error
        await asyncio.sleep(self._pause_s)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)


async def patiently(call: Callable[[], Awaitable[_T]], patience_s: float = PATIENCE_S) -> _T:
    """Do something over and over until a gateway answers. What is done twice must be harmless.

    Raises:
        GatewayUnreachableError: none answered within ``patience_s``.
    """
    pauses = Pauses(patience_s)
    try:
        async with asyncio.timeout(patience_s):
            while True:
                try:
                    return await call()
                except GatewayUnreachableError as error:
                    await pauses.wait(error)
    except TimeoutError as error:
        raise GatewayUnreachableError(f"no reply within {patience_s:.0f} s") from error
