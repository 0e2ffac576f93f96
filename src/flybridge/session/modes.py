"""Compare permission modes by what their agent publishes about them.

Every agent has names of its own for its modes. A mode that it does not publish may do anything,
as far as anybody here knows: it counts as granting everything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from flybridge.model.capabilities import Mode


def freedom_of(modes: Iterable[Mode], name: str) -> float:
    """Return how much a mode lets the agent do without asking; infinity if it is not published."""
    return next((mode.freedom for mode in modes if mode.id == name), math.inf)


def asks_less(modes: Iterable[Mode], name: str, than: str) -> bool:
    """Return whether the agent asks less in the mode ``name`` than in the mode ``than``."""
    known = tuple(modes)
    return freedom_of(known, name) > freedom_of(known, than)


def grants(modes: Iterable[Mode], name: str) -> bool:
    """Return whether the agent asks less in a mode than it does by default."""
    return freedom_of(modes, name) > 0


def is_default(modes: Iterable[Mode], name: str) -> bool:
    """Return whether the agent asks in a mode for exactly what it asks for by default."""
    return freedom_of(modes, name) == 0


def default_mode(modes: Iterable[Mode]) -> str:
    """Return the name of the agent's default mode; "" if it publishes none."""
    return next((mode.id for mode in modes if mode.freedom == 0), "")


def is_planning(modes: Iterable[Mode], name: str) -> bool:
    """Return whether the agent only plans in a mode, until somebody approves the plan."""
    return any(mode.id == name and mode.plans for mode in modes)


def in_order(modes: Iterable[Mode], names: Iterable[str]) -> list[str]:
    """Return names of modes, from the one that asks most to the one that asks least."""
    known = tuple(modes)
    return sorted(names, key=lambda name: (freedom_of(known, name), name))
