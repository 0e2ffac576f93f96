"""A WebSocket listener on a port of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.websocket_harness import OpenDoor, opened


@pytest.fixture
async def place(short_tmp: Path) -> AsyncIterator[OpenDoor]:
    async with opened(short_tmp) as place:
        yield place
