"""The newest events of a session, so that readers who keep up need not ask for them again."""

from __future__ import annotations

from collections import deque

from flybridge.client.items import EventItem

MAX_EVENTS = 1000
MAX_BYTES = 4 * 2**20


class Recent:
    """A bounded run of events without a gap; the oldest make room."""

    def __init__(self, *, max_events: int = MAX_EVENTS, max_bytes: int = MAX_BYTES) -> None:
        self._events: deque[EventItem] = deque()
        self._bytes = 0
        self._max_events = max_events
        self._max_bytes = max_bytes

    def put(self, item: EventItem) -> None:
        if self._events and item.seq != self._events[-1].seq + 1:
            self.clear()
        self._events.append(item)
        self._bytes += len(item.raw)
        while len(self._events) > self._max_events or (
            self._bytes > self._max_bytes and len(self._events) > 1
        ):
            self._bytes -= len(self._events.popleft().raw)

    def get(self, seq: int) -> EventItem | None:
        """That event, unless it is not here any more, or not yet."""
        if not self._events:
            return None
        at = seq - self._events[0].seq
        return self._events[at] if 0 <= at < len(self._events) else None

    def clear(self) -> None:
        self._events.clear()
        self._bytes = 0
