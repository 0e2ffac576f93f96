"""What one worker process does: storm after storm, each reported when it is judged."""

from __future__ import annotations

import os
import queue
import random
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple

from tests.soak.storm import Storm

STORM_KILLS = 50  # then everything is let to its end, and judged


class Round(NamedTuple):
    """What one storm came to."""

    seed: int
    kills: Counter[str]
    counts: Counter[str]
    broken: list[str]
    kept: str  # where its files are, if something broke


def one_storm(seed: int, kills: int, over: Callable[[], bool]) -> Round:
    """Run one storm; whatever goes wrong in it is something broken."""
    base = Path(tempfile.mkdtemp(prefix="fbs", dir="/tmp"))
    storm: Storm | None = None
    try:
        storm = Storm(base, seed)
        verdict = storm.run(kills, over)
        counts, broken = verdict.counts, verdict.broken
    except Exception:
        counts, broken = Counter(), [traceback.format_exc()]
        if storm is not None:
            storm.rig.close()
    if not broken:
        shutil.rmtree(base, ignore_errors=True)
    done = storm.kills if storm is not None else Counter[str]()
    return Round(seed, done, counts, broken, str(base) if broken else "")


def work(seed: int, kills: int, stop: Event, rounds: queue.Queue[Round | None]) -> None:
    """One worker: storms until its share of kills is done, or everybody is to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    seeds = random.Random(seed)
    left = kills
    parent = os.getppid()

    def over() -> bool:
        return stop.is_set() or os.getppid() != parent

    while left > 0 and not over():
        done = one_storm(seeds.getrandbits(32), min(left, STORM_KILLS), over)
        left -= max(1, done.kills.total())
        rounds.put(done)
    rounds.put(None)
