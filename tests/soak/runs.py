# ruff: noqa: T201
# A program for people: what it says goes to their terminal.
"""``python -m tests.soak.runs --count 1000 --seed 7``: runs that something happens to, for long.

Each is one story with a seed of its own, which is printed when something breaks;
``--seed N --count 1`` plays that one again. Environment: ``SOAK_RUNS``, ``SOAK_SEED``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.harness.random_runs import Story
from tests.harness.terminal_home import home_in

PER_HOME = 100  # a state directory does not grow for ever


def play(first: int, count: int) -> tuple[Counter[str], list[str]]:
    """So many stories in one home: what happened, and what broke."""
    base = Path(tempfile.mkdtemp(prefix="fb-runs-", dir="/tmp"))
    happened: Counter[str] = Counter()
    broken: list[str] = []
    with home_in(base) as home:
        for seed in range(first, first + count):
            story = Story(home, seed)
            found = story.play()
            happened[story.happening] += 1
            broken += [f"seed {seed}: {one}" for one in found]
            for one in found:
                print(f"BROKEN, seed {seed}: {one}", flush=True)
    shutil.rmtree(base, ignore_errors=True)
    return happened, broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=int(os.environ.get("SOAK_RUNS", "1000")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOAK_SEED", "1")))
    asked = parser.parse_args()
    started = time.monotonic()
    happened: Counter[str] = Counter()
    broken: list[str] = []
    for first in range(asked.seed, asked.seed + asked.count, PER_HOME):
        left = asked.seed + asked.count - first
        more, wrong = play(first, min(PER_HOME, left))
        happened += more
        broken += wrong
        seconds = time.monotonic() - started
        print(f"{seconds:7.0f} s  {happened.total()} runs, {len(broken)} broken", flush=True)
    for name, number in sorted(happened.items()):
        print(f"  {name:32}{number:>10}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
