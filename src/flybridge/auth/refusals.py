"""Bound how many refusals the audit log records, and count those that are left out.

Anybody who reaches a port can be refused as often as they ask. Every refusal of the gateway
passes through one :class:`RefusalLog`: it records a limited number a minute for each source and
in total, and then one summary of the rest. Requests that carry a valid credential have a budget
of their own, so unauthenticated clients cannot crowd out their records.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from flybridge.auth.limiter import WINDOW_MS, Limiter
from flybridge.errors import StorageError
from flybridge.model.audit import Record

PER_SOURCE = 60  # records a minute for requests without a valid credential, by source
IN_ALL = 120  # and in total
PER_CALLER = 120  # records a minute for authenticated callers, by credential
OF_CALLERS = 2400  # and in total: these credentials were issued by the owner
MAX_KINDS = 12  # that a summary lists; the rest are counted together
MAX_SOURCES = 64  # that a summary tells apart
SUMMARY = "refusals"  # the event of a summary
OTHER = "other"
_log = logging.getLogger(__name__)


def monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class RefusalLog:
    """Pass records on to ``write``, at most a limited number of refusals a minute.

    ``now_ms`` should be a monotonic clock. Memory is bounded whatever comes in. A record that
    cannot be written does not undo what it describes: the failure is logged.
    """

    def __init__(
        self,
        write: Callable[[Record], None],
        now_ms: Callable[[], int] = monotonic_ms,
    ) -> None:
        self._append = write
        self._now_ms = now_ms
        self._unknown = _Budget(PER_SOURCE, IN_ALL)
        self._known = _Budget(PER_CALLER, OF_CALLERS)

    def write(self, record: Record) -> None:
        """Record an action, or a refusal while its budget lasts."""
        if not is_limited(record):
            self._write(record)
            return
        now_ms = self._now_ms()
        budget = self._known if record.principal else self._unknown
        self._summarise(budget, now_ms)
        if budget.admit(record, now_ms):
            self._write(record)

    def flush(self, *, closing: bool = False) -> None:
        """Record the summaries that are due; ``closing``: all of them."""
        for budget in (self._unknown, self._known):
            self._summarise(budget, self._now_ms(), closing=closing)

    def _write(self, record: Record) -> None:
        try:
            self._append(record)
        except StorageError:
            _log.exception("failed to write the audit log")

    def _summarise(self, budget: _Budget, now_ms: int, *, closing: bool = False) -> None:
        summary = budget.take_summary(now_ms, closing=closing)
        if summary is not None:
            self._write(summary)


def is_limited(record: Record) -> bool:
    """Return whether a record counts against the limit.

    Acknowledgements of control messages do not: each message has a record of its own anyway,
    whether it was accepted or not, and only senders with that right can send one.
    """
    return record.outcome == "refused" and not record.event.endswith(".ack")


class _Budget:
    """One sliding window, and what did not fit into it."""

    def __init__(self, per_source: int, in_all: int) -> None:
        self._limiter = Limiter(per_source=per_source, in_all=in_all)
        self._since_ms = 0
        self._kinds: Counter[str] = Counter()
        self._sources: set[str] = set()

    def admit(self, record: Record, now_ms: int) -> bool:
        """Return whether a refusal is recorded; one that is not is counted."""
        source = record.credential or record.principal or record.source
        if not self._limiter.wait_ms(source, now_ms):
            self._limiter.failed(source, now_ms)
            return True
        if not self._kinds:
            self._since_ms = now_ms
        kind = f"{record.event} {record.code}".strip()[:80]
        if kind not in self._kinds and len(self._kinds) >= MAX_KINDS:
            kind = OTHER
        self._kinds[kind] += 1
        if len(self._sources) <= MAX_SOURCES:
            self._sources.add(source[:80])
        return False

    def take_summary(self, now_ms: int, *, closing: bool) -> Record | None:
        """Return the summary once a minute is over, and start counting again."""
        if not self._kinds or (now_ms - self._since_ms < WINDOW_MS and not closing):
            return None
        total = sum(self._kinds.values())
        listed = "; ".join(f"{kind} {count:,}" for kind, count in self._kinds.most_common())
        summary = Record(
            event=SUMMARY,
            outcome="refused",
            code="not_recorded",
            source=_named(self._sources),
            detail=f"and {total:,} more: {listed}",
        )
        self._kinds.clear()
        self._sources.clear()
        return summary


def _named(sources: set[str]) -> str:
    if len(sources) == 1:
        return next(iter(sources))
    return f"{len(sources)} sources" if len(sources) <= MAX_SOURCES else "many sources"
