"""Real keepers, by their program and by their starter; none outlives its test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.harness.keeper_bench import Bench
from tests.harness.keeper_starters import Starters


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


@pytest.fixture
async def starters(short_tmp: Path) -> AsyncIterator[Starters]:
    made = Starters(short_tmp)
    yield made
    await made.close()
