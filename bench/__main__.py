"""``make bench``: the real path, against its goals and beside its anchors.

Every round starts a gateway of its own and runs every case in it, in an order that rotates.
Figures are medians of rounds; ratios are taken within a round. The exit status is 1 when a goal
is missed: by the median and by the best round. What is missed is said with its profile.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench import profiles, report
from bench.cases import CASES, FULL, Sizes, start
from bench.ending import Files, finish, say
from bench.gateway import Gateway
from bench.pieces import NotThereError, Pieces, gather
from bench.report import Results


async def measure(pieces: Pieces, sizes: Sizes, names: list[str]) -> Results:
    folder = sizes.folder or Path(tempfile.gettempdir())
    results = Results(machine=report.machine(pieces, folder), missing=pieces.missing)
    for number in range(sizes.rounds):
        began = time.monotonic()
        turn = number % len(names)
        async with Gateway(pieces, sizes.folder) as gateway:
            results.add(await start(gateway, sizes))
            for name in names[turn:] + names[:turn]:
                results.add(await CASES[name](gateway, sizes))
        say(f"round {number + 1} of {sizes.rounds}: {time.monotonic() - began:.0f} s")
    return results


async def explain(pieces: Pieces, sizes: Sizes, results: Results) -> None:
    """The profile of every case that took too long over something, once each."""
    missed: dict[str, list[str]] = {}
    for row in results.with_verdict("missed"):
        if row.unit not in ("KiB", "MiB"):  # a profile of time says nothing about memory
            missed.setdefault(row.case, []).append(row.what)
    for case, what in missed.items():
        say(f"\nmissed: {', '.join(what)}; most of the gateway's time in {case!r}:")
        for frame in await profiles.frames(pieces, case, sizes):
            say(f"  {frame}")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--full", action="store_true", help="more of everything")
    parser.add_argument("--rounds", type=int, help="how many")
    parser.add_argument("--case", action="append", choices=sorted(CASES), help="only this one")
    parser.add_argument("--dir", type=Path, help="where journals lie: a real disk")
    parser.add_argument("--keep", action="store_true", help="keep the results in the repository")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    sizes = FULL if options.full else Sizes()
    sizes = msgspec.structs.replace(
        sizes, folder=options.dir, rounds=options.rounds or sizes.rounds
    )
    try:
        pieces = gather()
    except NotThereError as error:
        say(f"nothing was measured: {error}")
        return 1
    results = asyncio.run(measure(pieces, sizes, options.case or list(CASES)))
    return finish(
        results,
        Files(kept=report.KEPT, latest=report.LATEST),
        keep=options.keep,
        explain=lambda these: asyncio.run(explain(pieces, sizes, these)),
    )


if __name__ == "__main__":
    sys.exit(main())
