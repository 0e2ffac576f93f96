from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.keepers import Keepers


@pytest.fixture
async def keepers(tmp_path: Path) -> AsyncIterator[Keepers]:
    made = Keepers(tmp_path)
    yield made
    await made.close()
