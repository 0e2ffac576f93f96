"""What the raw notes of a page come to. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

FRAME_MS = 1000 / 60
BLOCKING_MS = 50.0
FAST_MS = 8.0  # an interaction that the browser did not find worth an entry


def dropped(frames: Sequence[float]) -> float:
    """Percent of the frames that should have come and did not."""
    gaps = [max(1, round((b - a) / FRAME_MS)) for a, b in pairwise(frames)]
    return 100 * (sum(gaps) - len(gaps)) / sum(gaps) if gaps else 0.0


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that so many of them do not exceed."""
    ordered = sorted(values)
    if not ordered:
        raise ValueError("nothing was measured")
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def interactions(entries: Iterable[Sequence[float]], made: int) -> list[float]:
    """How long each of the interactions took: a key has several events, the longest counts.

    The browser keeps no entry of the fast ones; there were ``made`` in all.
    """
    longest: dict[float, float] = {}
    for name, duration in entries:
        longest[name] = max(duration, longest.get(name, 0.0))
    return [*longest.values(), *([FAST_MS] * max(0, made - len(longest)))]


def blocking(longs: Iterable[Sequence[float]], after: float = 0.0) -> float:
    """Milliseconds beyond fifty of the tasks that ended after a moment."""
    return sum(took - BLOCKING_MS for began, took in longs if began + took > after)


def jumps(steps: Iterable[tuple[float, float, float]], most: float = 4.0) -> int:
    """Steps in which what is read moved otherwise than the wheel turned.

    Each is: how far it was to scroll, how far there was to go at the start, how far it moved. At
    the very top it may move by less; lines that come in meanwhile may give it room again.
    """
    return sum(
        1 for turned, room, moved in steps if not min(turned, room) - most <= moved <= turned + most
    )
