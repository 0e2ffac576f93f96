"""A home for the tests that run the real program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.terminal_home import Home, home_in


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark what runs the real program as slow: each test starts several."""
    if "home" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.slow)


@pytest.fixture
def home(short_tmp: Path) -> Iterator[Home]:
    with home_in(short_tmp) as home:
        yield home
