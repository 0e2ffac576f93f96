"""A real gateway for the examples to talk to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.gateway_process import RealGateway, real_gateway


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[RealGateway]:
    """A gateway that answers already."""
    async with real_gateway(short_tmp) as gateway:
        gateway.start()
        async with await gateway.client():
            pass
        yield gateway
