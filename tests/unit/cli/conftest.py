"""A home for the tests that run the real program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.terminal_home import Home, home_in


@pytest.fixture
def home(short_tmp: Path) -> Iterator[Home]:
    with home_in(short_tmp) as home:
        yield home
