"""Which sessions have changed since somebody last looked: the news behind every list.

Each change gives its session the next number. Whoever asks for what came after a number gets the
sessions with higher ones, or waits for the first. The numbers begin with the clock, so that a
number of an earlier gateway is never taken for one of this one.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from flybridge.model.ids import SessionId

MAX_GONE = 1000  # sessions that are no more and may still have to be told of
GATHER_S = 0.1  # what changes, changes often: one answer for all of it


class Changes:
    """Who changed, in the order of their latest change."""

    def __init__(self, start: int) -> None:
        self._start = start
        self._at = start
        self._changed: OrderedDict[SessionId, int] = OrderedDict()
        self._gone: OrderedDict[SessionId, int] = OrderedDict()
        self._forgotten = start  # who has not heard of this has to be told everything
        self._news = asyncio.Event()

    @property
    def at(self) -> int:
        """The number of the latest change."""
        return self._at

    def touched(self, session: SessionId) -> None:
        self._next()
        self._changed[session] = self._at
        self._changed.move_to_end(session)

    def dropped(self, session: SessionId) -> None:
        """It is gone for good."""
        self._next()
        self._changed.pop(session, None)
        self._gone[session] = self._at
        if len(self._gone) > MAX_GONE:
            self._forgotten = self._gone.popitem(last=False)[1]

    def knows(self, after: int) -> bool:
        """Whether all that came after that number can be told one by one."""
        return self._forgotten <= after <= self._at

    def since(self, after: int) -> tuple[list[SessionId], list[SessionId]]:
        """Which sessions changed after that number, and which are gone."""
        return _later(self._changed, after), _later(self._gone, after)

    async def wait(self, after: int, wait_s: float) -> None:
        """Return soon after something has changed, or when the time is over."""
        try:
            async with asyncio.timeout(wait_s):
                while self._at <= after:
                    self._news.clear()
                    await self._news.wait()
                await asyncio.sleep(GATHER_S)
        except TimeoutError:
            pass

    def _next(self) -> None:
        self._at += 1
        self._news.set()


def _later(marks: OrderedDict[SessionId, int], after: int) -> list[SessionId]:
    found: list[SessionId] = []
    for session, mark in reversed(marks.items()):  # the latest are at the end
        if mark <= after:
            break
        found.append(session)
    return found
