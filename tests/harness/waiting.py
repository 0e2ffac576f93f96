"""Wait for a condition: the only way in which tests wait.

A wait ends as soon as its condition holds, so the bound is generous: it only ends a wait that
would never end. ``until`` is awaited in an event loop; ``wait_until`` blocks. The bounds of what
the product promises are no waits, and stay with the tests of the promise.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
What = str | Callable[[], object]
WAIT_S = 60.0
POLL_S = 0.005


async def until(condition: Callable[[], T], what: What = "", *, within_s: float = WAIT_S) -> T:
    """Wait in the event loop until a condition holds, and return what it returned.

    Args:
        condition: is called again and again until its result is true.
        what: names what is awaited, in the failure; by default the source of the condition.

    Raises:
        AssertionError: the condition does not hold within the bound.
    """
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(_failure(condition, what, within_s))
        await asyncio.sleep(POLL_S)
    return found


def wait_until(condition: Callable[[], T], what: What = "", *, within_s: float = WAIT_S) -> T:
    """Block until a condition holds, and return what it returned; as ``until`` does.

    Raises:
        AssertionError: the condition does not hold within the bound.
    """
    deadline = time.monotonic() + within_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(_failure(condition, what, within_s))
        time.sleep(POLL_S)
    return found


async def until_file(path: Path) -> None:
    """Wait in the event loop until a file exists."""
    await until(path.exists, f"the file {path}")


def wait_until_file(path: Path) -> None:
    """Block until a file exists."""
    wait_until(path.exists, f"the file {path}")


def _failure(condition: Callable[[], object], what: What, within_s: float) -> str:
    awaited = what() if callable(what) else what or _source(condition)
    return f"did not happen within {within_s:g} s: {awaited}"


def _source(condition: Callable[[], object]) -> str:
    """Return the source of a condition as one line."""
    try:
        return " ".join(inspect.getsource(condition).split())
    except (OSError, TypeError):
        return repr(condition)
