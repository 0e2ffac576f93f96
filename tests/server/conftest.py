from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.http_harness import Web, serving


@pytest.fixture
async def web(short_tmp: Path) -> AsyncIterator[Web]:
    async with serving(short_tmp, grace_s=0.5) as web:
        yield web
