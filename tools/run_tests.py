"""Runs all tests in two processes at once: those that talk to real agents mostly wait for them.

    python tools/run_tests.py

What the second one says comes out when the first has had its say. Exit status 1 when either failed.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WAITING = ("tests/agents", "tests/abuse")


def main() -> int:
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
    return int(bool(first or second.returncode))


if __name__ == "__main__":
    sys.exit(main())
