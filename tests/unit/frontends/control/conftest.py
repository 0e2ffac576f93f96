"""Every way in for control messages, with the recorder behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.control_harness import Steered, steered


@pytest.fixture
async def place(short_tmp: Path) -> AsyncIterator[Steered]:
    async with steered(short_tmp) as place:
        yield place
