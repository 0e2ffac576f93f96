"""How often somebody may be wrong. It has no exceptions: loopback is limited like the rest."""

from __future__ import annotations

from collections import OrderedDict, deque

PER_SOURCE = 10
IN_ALL = 100
WINDOW_MS = 60_000
MAX_SOURCES = 4096
MAX_KNOWN = 256


class Limiter:
    """Counts failures per source, and all together, within the last minute."""

    def __init__(
        self, *, per_source: int = PER_SOURCE, in_all: int = IN_ALL, window_ms: int = WINDOW_MS
    ) -> None:
        self._per_source = per_source
        self._window_ms = window_ms
        self._all: deque[int] = deque(maxlen=in_all)
        self._by_source: OrderedDict[str, deque[int]] = OrderedDict()
        self._known: OrderedDict[str, None] = OrderedDict()

    def wait_ms(self, source: str, now_ms: int) -> int:
        """How long this source has to wait before it may try again; 0: it may.

        A source that was right before only has its own limit: what others do elsewhere does
        not lock it out.
        """
        own = self._left(self._by_source.get(source), now_ms)
        return own if source in self._known else max(own, self._left(self._all, now_ms))

    def succeeded(self, source: str) -> None:
        """Remember a source that was right."""
        self._known[source] = None
        self._known.move_to_end(source)
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)

    def failed(self, source: str, now_ms: int) -> None:
        """Somebody was wrong."""
        self._all.append(now_ms)
        times = self._by_source.setdefault(source, deque(maxlen=self._per_source))
        times.append(now_ms)
        self._by_source.move_to_end(source)
        if len(self._by_source) > MAX_SOURCES:
            self._by_source.popitem(last=False)

    def _left(self, times: deque[int] | None, now_ms: int) -> int:
        if not times or times.maxlen is None or len(times) < times.maxlen:
            return 0
        return max(0, times[0] + self._window_ms - now_ms)
