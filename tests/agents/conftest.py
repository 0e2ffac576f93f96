"""What the real CLIs need, and how many tests ran against each of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from tests import conftest
from tests.agents import rig


def _can_leave_network() -> bool:
    offline = [sys.executable, "-I", "-S", str(rig.HERE / "offline.py"), "/nowhere", "1"]
    inside = subprocess.run(
        [*offline, "readlink", "/proc/self/ns/net"], capture_output=True, timeout=20
    )
    ours = subprocess.run(["readlink", "/proc/self/ns/net"], capture_output=True, timeout=20)
    return inside.returncode == 0 and inside.stdout != ours.stdout


conftest.NEEDS["claude-cli"] = rig.are_installed
conftest.NEEDS["netns"] = _can_leave_network


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    ran = Counter[str]()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            ran.update(one for one in rig.VERSIONS if f"[{one}]" in getattr(report, "nodeid", ""))
    for version in rig.VERSIONS:
        terminalreporter.write_line(f"real claude {version}: {ran[version]} tests ran")
