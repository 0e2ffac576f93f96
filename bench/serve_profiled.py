"""`flybridge serve` with a profiler at hand: SIGUSR1 starts it, and at the end of the program
$BENCH_PROFILE says what it spent its time on since.

A launcher of the benchmark's own, so that the product knows nothing of profilers.
"""

from __future__ import annotations

import cProfile
import os
import signal

from flybridge.cli.main import main


def run() -> None:
    profile = cProfile.Profile()
    signal.signal(signal.SIGUSR1, lambda number, frame: profile.enable())
    try:
        main()
    finally:
        profile.disable()
        profile.dump_stats(os.environ["BENCH_PROFILE"])


if __name__ == "__main__":
    run()
