"""``make bench-web``: the page in a browser, against its goals.

Every round starts a gateway and a browser of its own and runs every case, in an order that
rotates. Figures are medians of rounds. The exit status is 1 when a goal is missed: by the median
and by the best round. Rows without a goal say what an empty page, or a plain one, gets out of the
machine in the same round.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from bench import report
from bench.cases import Figures
from bench.ending import Files, finish, say
from bench.goals import Rounds, Row
from bench.pieces import HERE, NotThereError, Pieces, compiled
from bench.web import build, opening, ratings, scrolling, streaming
from bench.web.browser import Chromium, chromium
from bench.web.gateway import PageGateway
from bench.web.goals import ROWS
from bench.web.loads import FULL, Loads, Long, long_sessions
from bench.web.sizes import sizes

Case: TypeAlias = Callable[[PageGateway, Chromium, Loads, Long], Awaitable[Figures]]
CASES: dict[str, Case] = {
    one.__name__: one
    for one in (
        *(opening.first, opening.opened, opening.memory),
        *(streaming.stream, streaming.slow, streaming.board, streaming.cuts),
        *(scrolling.scroll, ratings.rated),
    )
}
KEPT = HERE / "web" / "results.json"
LATEST = HERE / "results" / "web.json"
BEGIN = "<!-- table: make bench-web -->\n"


class WebResults(report.Results):
    def rows(self) -> list[tuple[Row, Rounds]]:
        return [(row, self.rounds[row.figure]) for row in ROWS if row.figure in self.rounds]


async def measure(page: Path, loads: Loads, names: list[str], results: WebResults) -> None:
    pieces = Pieces(fake_cli=compiled("fake_cli"), load=compiled("load"))
    for number in range(loads.rounds):
        began = time.monotonic()
        turn = number % len(names)
        async with PageGateway(pieces, page) as gateway, chromium(gateway) as browser:
            long = await long_sessions(gateway, loads)
            for name in names[turn:] + names[:turn]:
                results.add(await CASES[name](gateway, browser, loads, long))
            version = browser.version
        results.machine = machine(version)
        busy = f"{os.getloadavg()[0]:.1f}"
        took = f"{time.monotonic() - began:.0f} s"
        say(f"round {number + 1} of {loads.rounds}: {took}, load average {busy}")


def machine(version: str) -> str:
    """What the figures depend on."""
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return (
        f"{cores} cores without a GPU, Chromium {version} without a screen, load average {load:.1f}"
    )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.web", description=__doc__)
    parser.add_argument("--full", action="store_true", help="a minute of every stream, five rounds")
    parser.add_argument("--rounds", type=int, help="how many")
    parser.add_argument("--case", action="append", choices=sorted(CASES), help="only this one")
    parser.add_argument("--page", type=Path, help="a page that is built already")
    parser.add_argument("--keep", action="store_true", help="keep the results in the repository")
    return parser.parse_args()


def run(options: argparse.Namespace, page: Path) -> WebResults:
    loads = FULL if options.full else Loads()
    loads = msgspec.structs.replace(loads, rounds=options.rounds or loads.rounds)
    results = WebResults(machine="")
    if options.page is None:
        results.add(build.build(page))
    results.add(sizes(page))
    if not options.case:
        results.add(build.unit_tests())
    asyncio.run(measure(page, loads, possible(options.case or list(CASES), results), results))
    return results


def possible(names: list[str], results: WebResults) -> list[str]:
    """The cases that can run here; why others cannot, goes to the results."""
    rated = ratings.rated.__name__
    if rated not in names:
        return names
    try:
        ratings.install()
    except NotThereError as error:
        results.missing.append(f"Lighthouse: {error}")
        return [one for one in names if one != rated]
    return names


def explain(results: report.Results) -> None:
    """What cost the page its points, if it lost too many."""
    if any(row.case == ratings.rated.__name__ for row in results.with_verdict("missed")):
        say("\n" + "\n".join(ratings.explained()))


def main() -> int:
    options = parsed()
    try:
        with tempfile.TemporaryDirectory(prefix="fb-page-") as folder:
            results = run(options, options.page or Path(folder) / "page")
    except NotThereError as error:
        say(f"nothing was measured: {error}")
        return 1
    files = Files(kept=KEPT, latest=LATEST, begin=BEGIN)
    return finish(results, files, keep=options.keep, explain=explain)


if __name__ == "__main__":
    sys.exit(main())
