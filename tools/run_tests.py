"""Runs all tests: those of the page, then the others in three processes at once on two cores,
because much of a test is waiting: for a real agent, for a browser, for a clock.

    python -m tools.run_tests

What the others say comes out when the first has had its say. Exit status 1 when any failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TypeAlias

from tools.node import node

ROOT = Path(__file__).parents[1]
PYTEST = (sys.executable, "-m", "pytest", "-q")
# each of about the same length, and of the same length as all that is not named here
BESIDE = (("tests/agents",), ("tests/web", "tests/crash", "tests/abuse"))
Running: TypeAlias = tuple[subprocess.Popen[bytes], IO[bytes]]


def page_tests() -> int:
    """The page's own tests, below vitest; they say themselves how many there were."""
    program, script = node(), ROOT / "web" / "node_modules" / "vitest" / "vitest.mjs"
    if program is None or not script.is_file():
        sys.stdout.write("could not run: the tests of the page (vitest is not installed)\n")
        return 0
    argv = [str(program), str(script), "run", "--reporter=dot"]
    env = dict(os.environ) if sys.stdout.isatty() else {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(argv, cwd=ROOT / "web", env=env, check=False).returncode


@contextmanager
def beside(folders: Sequence[str]) -> Iterator[Running]:
    """The tests of these folders, in a process that keeps what it has to say to itself."""
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen([*PYTEST, *folders], cwd=ROOT, stdout=said, stderr=said)
        try:
            yield running, said
        finally:
            running.terminate()
            running.wait()


def main() -> int:
    failed = [page_tests()]
    with ExitStack() as stack:
        others = [(folders, *stack.enter_context(beside(folders))) for folders in BESIDE]
        ignored = [f"--ignore={one}" for folders in BESIDE for one in folders]
        failed.append(subprocess.run([*PYTEST, *ignored], cwd=ROOT, check=False).returncode)
        for folders, running, said in others:
            failed.append(running.wait())
            said.seek(0)
            sys.stdout.write(f"\n{', '.join(folders)}:\n{said.read().decode(errors='replace')}")
            sys.stdout.flush()
    return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
