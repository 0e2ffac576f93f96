# ruff: noqa: T201
# A program for people: what it says goes to their terminal.
"""``python -m tests.soak``: kill things at random for long, and count what broke.

    python -m tests.soak --kills 10000 --seed 7 --workers 4
    python -m tests.soak --minutes 30

Each worker runs one storm after the other, every one with a seed of its own that is printed
when something breaks: ``--storm SEED`` plays that one again. Then the gateway is killed at
every system call of every operation. Environment: ``SOAK_KILLS``,
``SOAK_MINUTES``, ``SOAK_SEED``, ``SOAK_WORKERS``.
"""

from __future__ import annotations

import argparse
import os
import queue
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from multiprocessing import get_context
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event

from tests.crash.operations import EVERY
from tests.crash.points import Maker, Opening, doing, kill_everywhere
from tests.crash.steering import steered
from tests.soak.work import STORM_KILLS, Round, one_storm, work

REPORT_S = 30.0
LATE_S = 180.0  # a storm that takes longer is stuck


class Tally:
    """Everything so far, and how it is told."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.storms = 0
        self.kills: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.broken: list[Round] = []

    def add(self, done: Round) -> None:
        self.storms += 1
        self.kills += done.kills
        self.counts += done.counts
        if done.broken:
            self.broken.append(done)
            print(f"BROKEN in storm {done.seed} (files in {done.kept}):", flush=True)
            print("\n".join(f"  {line}" for line in done.broken[:20]), flush=True)

    def progress(self) -> None:
        seconds = time.monotonic() - self.started
        print(
            f"{seconds:7.0f} s  {self.kills.total()} kills ({self.kills.total() / seconds:.1f}/s), "
            f"{self.counts['inputs']} inputs, {self.counts['events']} events, "
            f"{len(self.broken)} storms broken",
            flush=True,
        )

    def table(self) -> None:
        """Doubles and losses stand there even when they are none: they are what this is for."""
        self.progress()
        shown = {f"killed: {name}": count for name, count in sorted(self.kills.items())}
        shown |= {"storms": self.storms}
        shown |= dict.fromkeys(("doubles", "lost"), 0)
        shown |= dict(sorted(self.counts.items()))
        for name, count in shown.items():
            print(f"  {name:32}{count:>10}")


def gather(
    workers: list[SpawnProcess], rounds: queue.Queue[Round | None], stop: Event, deadline: float
) -> Tally:
    """Count what the workers report; at the deadline, or when told to end, they stop early."""
    tally = Tally()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, lambda *_: stop.set())
    running, heard, told = len(workers), time.monotonic(), time.monotonic()
    while running:
        try:
            done = rounds.get(timeout=1)
        except queue.Empty:
            if time.monotonic() - heard > LATE_S or not any(one.is_alive() for one in workers):
                stuck = f"{running} workers gave no sign for {LATE_S:g} s, or died"
                tally.broken.append(Round(0, Counter(), Counter(), [stuck], ""))
                print(f"BROKEN: {stuck}")
                break
        else:
            heard = time.monotonic()
            if done is None:
                running -= 1
            else:
                tally.add(done)
        if time.monotonic() > deadline:
            stop.set()
        if time.monotonic() - told >= REPORT_S:
            told = time.monotonic()
            tally.progress()
    return tally


def all_points() -> bool:
    """Kill at every system call of every operation; whether all promises held."""
    if not shutil.which("strace"):
        print("could not run: kills at every system call need strace")
        return True
    makers: dict[str, Maker] = {"opening a session": Opening}
    for name, operation in EVERY.items():
        makers[f"{name}, keeper lives"] = doing(operation, keeper_too=False)
        makers[f"{name}, keeper dies too"] = doing(operation, keeper_too=True)
    for kind in ("stdin", "content_ref", "interrupt"):
        makers[f"control {kind}, keeper lives"] = steered(kind, keeper_too=False)
        makers[f"control {kind}, keeper dies too"] = steered(kind, keeper_too=True)
    fine = True
    for what, make in makers.items():
        try:
            counted = kill_everywhere(make)
        except Exception:
            fine = False
            print(f"BROKEN at a call of: {what}\n{traceback.format_exc()}", flush=True)
        else:
            print(f"killed at {counted['hit']} calls of: {what}", flush=True)
    return fine


def options() -> argparse.Namespace:
    env = os.environ.get
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=int(env("SOAK_KILLS", "10000")))
    parser.add_argument("--minutes", type=float, default=float(env("SOAK_MINUTES", "0")))
    parser.add_argument("--seed", type=int, default=int(env("SOAK_SEED", "0")))
    workers = int(env("SOAK_WORKERS", str(2 * (os.cpu_count() or 1))))
    parser.add_argument("--workers", type=int, default=workers)
    parser.add_argument("--no-points", action="store_true", help="storms only")
    parser.add_argument("--storm", type=int, help="play this one storm again")
    return parser.parse_args()


def main() -> int:
    given = options()
    minutes = given.minutes or 24 * 60
    deadline = time.monotonic() + minutes * 60
    if given.storm is not None:
        tally = Tally()
        tally.add(one_storm(given.storm, min(given.kills, STORM_KILLS), lambda: False))
        tally.table()
        return 1 if tally.broken else 0
    seed = given.seed or random.SystemRandom().getrandbits(32)
    count = max(1, min(given.workers, given.kills))
    print(f"seed {seed}: {given.kills} kills by {count} workers", flush=True)
    context = get_context("spawn")
    rounds: queue.Queue[Round | None] = context.Queue()  # type: ignore[assignment]
    stop = context.Event()
    share = -(-given.kills // count)
    workers = [
        context.Process(target=work, args=(seed + n, share, stop, rounds)) for n in range(count)
    ]
    for one in workers:
        one.start()
    tally = gather(workers, rounds, stop, deadline)
    for one in workers:
        one.join(LATE_S if not tally.broken else 30)
        one.kill()
    tally.table()
    fine = given.no_points or stop.is_set() or all_points()
    return 1 if tally.broken or not fine else 0


if __name__ == "__main__":
    sys.exit(main())
