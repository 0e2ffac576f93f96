"""The port for devices, with keepers and the recorder behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.companion_harness import Rig, companion


@pytest.fixture
async def rig(short_tmp: Path) -> AsyncIterator[Rig]:
    async with companion(short_tmp, grace_s=0.5) as rig:
        yield rig
