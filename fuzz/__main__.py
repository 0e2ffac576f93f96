"""``python -m fuzz frames --count 100000 --seed 1``; one input again: ``--only 4711``."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine

from fuzz import buttons, envelope, frames, gate

# name → a coroutine that runs inputs first … first + count - 1 and counts how they ended
TARGETS: dict[str, Callable[[int, int, int], Coroutine[object, object, Counter[str]]]] = {
    "frames": frames.run,
    "gate": gate.run,
    "envelope": envelope.run,
    "buttons": buttons.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", type=int, help="run this one input")
    arguments = parser.parse_args()
    first = arguments.only or 0
    count = 1 if arguments.only is not None else arguments.count
    sys.stdout.write(f"{arguments.target}: {count} inputs, seed {arguments.seed}\n")
    start = time.monotonic()
    endings = asyncio.run(TARGETS[arguments.target](arguments.seed, first, count))
    for name, number in endings.most_common():
        sys.stdout.write(f"{number:9}  {name}\n")
    sys.stdout.write(f"{time.monotonic() - start:.1f} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
