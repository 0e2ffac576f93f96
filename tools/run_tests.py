"""Runs all tests: those of the page, then the others in two processes at once, because those
that talk to real agents or to a browser mostly wait for them.

    python -m tools.run_tests

What the second one says comes out when the first has had its say. Exit status 1 when any failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.node import node

ROOT = Path(__file__).parents[1]
WAITING = ("tests/agents", "tests/web")  # about as long as all the others together


def page_tests() -> int:
    """The page's own tests, below vitest; they say themselves how many there were."""
    program, script = node(), ROOT / "web" / "node_modules" / "vitest" / "vitest.mjs"
    if program is None or not script.is_file():
        sys.stdout.write("could not run: the tests of the page (vitest is not installed)\n")
        return 0
    argv = [str(program), str(script), "run", "--reporter=dot"]
    env = dict(os.environ) if sys.stdout.isatty() else {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(argv, cwd=ROOT / "web", env=env, check=False).returncode


def main() -> int:
    page = page_tests()
    run = [sys.executable, "-m", "pytest", "-q"]
    with tempfile.TemporaryFile() as said:
        second = subprocess.Popen([*run, *WAITING], cwd=ROOT, stdout=said, stderr=said)
        try:
            ignored = [f"--ignore={one}" for one in WAITING]
            first = subprocess.run([*run, *ignored], cwd=ROOT, check=False).returncode
            second.wait()
        finally:
            second.terminate()
        said.seek(0)
        sys.stdout.write(f"\n{', '.join(WAITING)}:\n{said.read().decode(errors='replace')}")
    return int(bool(page or first or second.returncode))


if __name__ == "__main__":
    sys.exit(main())
