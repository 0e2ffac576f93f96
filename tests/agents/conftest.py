"""What the real CLIs need, and how many tests ran against each of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from flybridge.probes import offline
from tests import conftest
from tests.agents import rig
from tests.agents.rig import Bridge


def _can_leave_network() -> bool:
    argv = [sys.executable, "-I", "-S", str(offline.__file__), "/nowhere", "1"]
    inside = subprocess.run(
        [*argv, "readlink", "/proc/self/ns/net"], capture_output=True, timeout=20
    )
    ours = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, timeout=20)
    return inside.returncode == 0 and inside.stdout != ours.stdout


conftest.NEEDS["claude-cli"] = rig.are_installed
conftest.NEEDS["netns"] = _can_leave_network


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that has a gateway against every version that its module is for."""
    chosen = {mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")}
    versions = rig.versions_of(metafunc.module.__name__)
    scopes: dict[str, Literal["module", "function"]]
    scopes = {"bridge": "module", "own_bridge": "function"}
    for name, scope in scopes.items():
        own = getattr(metafunc.module, name, None)  # a module may have a gateway of its own
        if name in metafunc.fixturenames and name not in chosen and own is None:
            metafunc.parametrize(name, versions, indirect=True, scope=scope)


@pytest.fixture(scope="module")
def bridge(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    """One gateway for all tests of a module and a version: sessions do not know of each other."""
    bridge = Bridge(request.param, tmp_path_factory.mktemp("c"))
    bridge.start()
    yield bridge
    bridge.close()


@pytest.fixture
def own_bridge(request: pytest.FixtureRequest, short_tmp: Path) -> Iterator[Bridge]:
    """A gateway that a test may kill."""
    bridge = Bridge(request.param, short_tmp)
    bridge.start()
    yield bridge
    bridge.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = Counter[str]()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            ran.update(one for one in rig.PINNED if f"[{one}]" in getattr(report, "nodeid", ""))
    for version in rig.PINNED:
        terminalreporter.write_line(f"real claude {version}: {ran[version]} tests ran")
