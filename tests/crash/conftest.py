"""The rig of every crash test, and the counts of killed points at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.rig import Rig

_points = pytest.StashKey[Counter[str]]()


@pytest.fixture
def rig(short_tmp: Path) -> Iterator[Rig]:
    """A rig that has not been started; nothing of it is left afterwards."""
    one = Rig(short_tmp)
    yield one
    one.close()


@pytest.fixture
def points(request: pytest.FixtureRequest) -> Counter[str]:
    """How many points of which operation were hit, for the last lines of the run."""
    return request.config.stash.setdefault(_points, Counter())


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for what, hit in config.stash.get(_points, Counter[str]()).items():
        terminalreporter.write_line(f"gateway killed at {hit} system calls of: {what}")
