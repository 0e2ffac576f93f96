from __future__ import annotations

import tempfile
from collections.abc import Iterator

import pytest

from tests.harness.agent_host import Said


@pytest.fixture
def said() -> Iterator[Said]:
    with tempfile.TemporaryFile() as file:
        yield Said(file)
