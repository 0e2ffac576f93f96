"""What the real CLIs need, and how many tests ran against each of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import conftest
from tests.agents import rig
from tests.agents.rig import VERSIONS, Bridge


def _can_leave_network() -> bool:
    wall = rig.HERE.parents[1] / "src" / "flybridge" / "testing" / "offline.py"
    offline = [sys.executable, "-I", "-S", str(wall), "/nowhere", "1"]
    inside = subprocess.run(
        [*offline, "readlink", "/proc/self/ns/net"], capture_output=True, timeout=20
    )
    ours = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, timeout=20)
    return inside.returncode == 0 and inside.stdout != ours.stdout


conftest.NEEDS["claude-cli"] = rig.are_installed
conftest.NEEDS["netns"] = _can_leave_network


@pytest.fixture(scope="module", params=VERSIONS)
def bridge(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bridge]:
    """One gateway for all tests of a module and a version: sessions do not know of each other."""
    bridge = Bridge(request.param, tmp_path_factory.mktemp("c"))
    bridge.start()
    yield bridge
    bridge.close()


@pytest.fixture(params=VERSIONS)
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
            ran.update(one for one in rig.VERSIONS if f"[{one}]" in getattr(report, "nodeid", ""))
    for version in rig.VERSIONS:
        terminalreporter.write_line(f"real claude {version}: {ran[version]} tests ran")
