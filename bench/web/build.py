"""The page, built for this run alone: what is measured is what the sources say now."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from bench.cases import Figures
from bench.pieces import HERE, NotThereError
from tools.node import node

WEB = HERE.parent / "web"
VITE = ("vite/bin/vite.js", "build", "--emptyOutDir", "--logLevel", "warn", "--outDir")
VITEST = ("vitest/vitest.mjs", "run", "--silent")
LIMIT_S = 300
LAST = 2000


def build(into: Path) -> Figures:
    """Build it there; how long that took."""
    return _timed("vite", *VITE, str(into))


def unit_tests() -> Figures:
    return _timed("unit", *VITEST)


def _timed(name: str, script: str, *args: str) -> Figures:
    """Run a tool of the page.

    Raises:
        NotThereError: it is not installed, or it failed.
    """
    program, path = node(), WEB / "node_modules" / script
    if program is None or not path.is_file():
        raise NotThereError("the page's tools are not installed: make web-tests")
    began, cpu = time.monotonic(), _cpu_of_children()
    done = subprocess.run(
        [str(program), str(path), *args], cwd=WEB, capture_output=True, text=True, timeout=LIMIT_S
    )
    if done.returncode:
        raise NotThereError(f"{script} failed:\n{(done.stdout + done.stderr)[-LAST:]}")
    took, used = time.monotonic() - began, _cpu_of_children() - cpu
    return {f"{name}_s": took, f"{name}_cpu_s": used}


def _cpu_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system
