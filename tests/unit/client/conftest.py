"""A scripted gateway for the client to talk to: at a Unix socket, and behind a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.config.state_dir import StateDir
from tests.harness.scripted_gateway import ScriptedGateway, serving
from tests.harness.scripted_url import ScriptedUrl, listening


@pytest.fixture
async def gateway(short_tmp: Path) -> AsyncIterator[ScriptedGateway]:
    async with serving(StateDir(short_tmp / "s")) as gateway:
        yield gateway


@pytest.fixture
async def door(gateway: ScriptedGateway) -> AsyncIterator[ScriptedUrl]:
    async with listening(gateway) as door:
        yield door
