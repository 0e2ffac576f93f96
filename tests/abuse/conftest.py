"""Servers for the tests of abuse: one for a module's tests, or one for a test alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.abuse.clients import Who
from tests.abuse.rig import Server, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the tests of a module share: each opens sessions of its own."""
    with serving(tmp_path_factory.mktemp("a")) as server:
        yield server


@pytest.fixture(scope="module")
def owner(server: Server) -> Who:
    """Somebody who logged in to it, and may do everything."""
    return server.login()


@pytest.fixture
def fresh(short_tmp: Path) -> Iterator[Server]:
    """A server for one test."""
    with serving(short_tmp) as server:
        yield server
