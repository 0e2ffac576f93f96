"""What Lighthouse says of the page on a desktop: the login, the board, a session, settings.

It is installed on the way, beside its own lock: nobody else needs it.
"""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import msgspec

from bench.cases import Figures
from bench.pieces import HERE, node_with
from bench.web.browser import Chromium, Door, listening
from bench.web.gateway import PageGateway
from bench.web.loads import Loads, Long

FOLDER = Path(__file__).parent / "lighthouse"
LATEST = HERE / "results" / "lighthouse.json"
LIMIT_S = 240
LAST = 2000
POINTS = {
    "fast_points": "performance",
    "access_points": "accessibility",
    "practice_points": "best-practices",
}


class Rating(msgspec.Struct):
    """Points of a page out of a hundred, and what took the others, in lines."""

    address: str
    scores: dict[str, float]
    lost: list[list[str]]


def install() -> None:
    """Lighthouse, as its lock pins it.

    Raises:
        NotThereError: it cannot be had.
    """
    node_with(FOLDER)


async def rated(gateway: PageGateway, browser: Chromium, loads: Loads, long: Long) -> Figures:
    """Four pages in a browser of their own; the worst one counts."""
    async with listening(gateway) as door:
        found = await _rate(door, "/login")
        await door.log_in()
        found += await _rate(door, "/", f"/s/{long.sessions[0]}", "/settings")
    LATEST.parent.mkdir(exist_ok=True)
    LATEST.write_bytes(msgspec.json.encode(found))
    return {name: min(one.scores[kind] for one in found) for name, kind in POINTS.items()}


def explained() -> list[str]:
    """What the last run found to be wanting, page by page."""
    found = msgspec.json.decode(LATEST.read_bytes(), type=list[Rating])
    lines = []
    for one in found:
        lines.append(f"{one.address}: {one.scores}")
        lines += [f"  {line}" for audit in one.lost for line in audit]
    return lines


async def _rate(door: Door, *paths: str) -> list[Rating]:
    """What it says of pages, one after the other.

    Raises:
        RuntimeError: it could not look at one.
    """
    argv = [str(node_with(FOLDER)), str(FOLDER / "rate.mjs"), str(door.port)]
    argv += [f"{door.address}{path}" for path in paths]
    done = await asyncio.to_thread(
        subprocess.run, argv, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode:
        raise RuntimeError(f"Lighthouse failed:\n{(done.stdout + done.stderr)[-LAST:]}")
    return msgspec.json.decode(done.stdout, type=list[Rating])
