"""Where the time goes in a case that missed its goal."""

from __future__ import annotations

import pstats
import tempfile
from pathlib import Path

import msgspec

from bench.cases import CASES, Sizes
from bench.gateway import IMPORTS, PROFILED, Gateway
from bench.pieces import Pieces

TOP = 10
SHOWN_PARTS = 3  # of a path


async def frames(pieces: Pieces, case: str, sizes: Sizes) -> list[str]:
    """The functions that took most of the gateway's own time, slowest first."""
    if case == "start":
        return await _imports(pieces, sizes)
    alone = msgspec.structs.replace(pieces, node=None, sdk=None)
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "profile"
        environ = {"BENCH_PROFILE": str(dump)}
        async with Gateway(alone, sizes.folder, launcher=PROFILED, environ=environ) as gateway:
            gateway.start_profile()
            await CASES[case](gateway, sizes)
        stats = pstats.Stats(str(dump))
    found = sorted(stats.stats.items(), key=lambda one: -one[1][2])  # type: ignore[attr-defined]
    busy = sum(one[1][2] for one in found if "poll" not in one[0][2])
    waiting = [one for one in found if "poll" not in one[0][2]]
    return [
        f"{own / busy:5.1%}  {calls:>8} calls  {_place(where)}"
        for where, (_, calls, own, _, _) in waiting[:TOP]
    ]


def _place(where: tuple[str, int, str]) -> str:
    file, line, function = where
    if file == "~":
        return function
    return f"{'/'.join(Path(file).parts[-SHOWN_PARTS:])}:{line} {function}"


async def _imports(pieces: Pieces, sizes: Sizes) -> list[str]:
    """The modules that took longest to import, with what they import in turn."""
    async with Gateway(pieces, sizes.folder, launcher=IMPORTS) as gateway:
        rows = [row.split("|") for row in gateway.log().splitlines() if row.count("|") == 2]
    times = [(int(row[1]), row[2].rstrip()) for row in rows if row[1].strip().isdigit()]
    return [
        f"{us / 1000:6.1f} ms  {name.strip()}" for us, name in sorted(times, reverse=True)[:TOP]
    ]
