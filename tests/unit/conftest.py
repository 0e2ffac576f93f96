"""Fixtures that several packages use: a server with HTTP, and a runtime."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.http_harness import Web, serving
from tests.harness.runtime_harness import House


@pytest.fixture
async def web(short_tmp: Path) -> AsyncIterator[Web]:
    async with serving(short_tmp, grace_s=0.5) as web:
        yield web


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    """A gateway's runtime in this process, with the recorder as its agent."""
    house = House(short_tmp)
    yield house
    await house.end()
