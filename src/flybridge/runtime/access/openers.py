"""Processes that came back to a session with its key, and count as the one that opened it.

Remembered as long as this gateway lives: a process that outlives it shows its key again.
"""

from __future__ import annotations

from collections import OrderedDict

MAX_KNOWN = 4096


class Openers:
    """Which process may decide in which session because it has shown the key of that one."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, session: str, process: str) -> None:
        """``process``: pid, start time and boot in one, so that no later one is taken for it."""
        self._known[session, process] = None
        self._known.move_to_end((session, process))
        if len(self._known) > MAX_KNOWN:
            self._known.popitem(last=False)

    def holds(self, session: str, process: str) -> bool:
        return (session, process) in self._known
