# ruff: noqa: T201
# A program for people: what it says goes to their terminal.
"""``python -m tests.soak.visits --count 100 --seed 7``: two browsers at one session, for long.

Each story has a seed of its own, which is printed when something breaks; ``--seed N --count 1``
plays that one again. Environment: ``SOAK_VISITS``, ``SOAK_SEED``. Needs Chromium and a built page.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from playwright.sync_api import Browser

from tests.harness.browsers import chromium
from tests.web.random_visits import Story
from tests.web.rig import Served, Visit, launched, served_in
from tests.web.wire import LOST, Wire, through_wire

PER_GATEWAY = 20  # a state directory does not grow for ever


def play(browser: Browser, gateway: Served, wire: Wire, seed: int) -> tuple[list[str], list[str]]:
    """One story: what happened, and what broke."""
    visits = [
        Visit(browser, gateway, theme="dark", size="desk", login=login)
        for login in (gateway.login, None, gateway.login)
    ]
    near, far, fresh = visits
    far.context.set_storage_state(through_wire(gateway.login))
    for one in visits:
        one.expect(LOST)
    story = Story(gateway, wire, near.page(), far.page(), seed)
    try:
        broken = story.play(fresh.open)
        for one in visits:
            one.check()
    except Exception as error:  # the next story may be told all the same
        broken = [f"{type(error).__name__}: {error}"]
    finally:
        for one in visits:
            one.context.close()
    return story.happened, broken


def play_some(first: int, count: int) -> tuple[Counter[str], int]:
    """So many stories with one gateway: what happened, and how many broke."""
    base = Path(tempfile.mkdtemp(prefix="fb-visits-", dir="/tmp"))
    happened: Counter[str] = Counter()
    wrong = 0
    with (
        closing(Wire()) as wire,
        launched(base, wire.browser_arg) as browser,
        served_in(browser, Path(tempfile.mkdtemp(dir=base))) as gateway,
    ):
        for seed in range(first, first + count):
            more, broken = play(browser, gateway, wire, seed)
            happened.update(more)
            wrong += bool(broken)
            for one in broken:
                print(f"BROKEN, seed {seed}: {more} {one}", flush=True)
    shutil.rmtree(base, ignore_errors=True)
    return happened, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=int(os.environ.get("SOAK_VISITS", "200")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOAK_SEED", "1")))
    asked = parser.parse_args()
    if chromium() is None:
        print(f"could not run: {asked.count} stories (there is no Chromium)")
        return 0
    started = time.monotonic()
    happened: Counter[str] = Counter()
    wrong = 0
    end = asked.seed + asked.count
    for first in range(asked.seed, end, PER_GATEWAY):
        done = min(first + PER_GATEWAY, end)
        more, broken = play_some(first, done - first)
        happened += more
        wrong += broken
        seconds = time.monotonic() - started
        print(f"{seconds:7.0f} s  {done - asked.seed} stories, {wrong} broken", flush=True)
    for name, number in sorted(happened.items()):
        print(f"  {name:32}{number:>10}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
