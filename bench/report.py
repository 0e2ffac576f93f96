"""Results as a table, as a file, and against the results before."""

from __future__ import annotations

import os
import platform
import sqlite3
import statistics
import subprocess
from importlib.metadata import version
from pathlib import Path

import msgspec

from bench.goals import ROWS, Rounds, Row, Verdict, short
from bench.pieces import HERE, NODE_FOLDER, SDK_REQUIREMENTS, Pieces
from bench.processes import filesystem_of

KEPT = HERE / "results.json"
LATEST = HERE / "results" / "latest.json"
PAGE = HERE.parent / "docs" / "explanation" / "performance.md"
BEGIN, END = "<!-- table: make bench -->\n", "<!-- end of table -->\n"


class Results(msgspec.Struct):
    """One run: every figure of every round, and what it was measured on."""

    machine: str
    rounds: dict[str, Rounds] = {}
    missing: list[str] = []

    def add(self, figures: dict[str, float]) -> None:
        for name, value in figures.items():
            self.rounds.setdefault(name, []).append(float(f"{value:.4g}"))

    def rows(self) -> list[tuple[Row, Rounds]]:
        return [(row, self.rounds[row.figure]) for row in ROWS if row.figure in self.rounds]

    def with_verdict(self, verdict: Verdict) -> list[Row]:
        return [row for row, rounds in self.rows() if row.verdict(rounds) == verdict]


def load(path: Path) -> Results | None:
    """Results of an earlier run, if there are any."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Results)
    except FileNotFoundError:
        return None


def save(path: Path, results: Results) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def table(results: Results, before: Results | None = None) -> str:
    """A row each, and beside it how much the median moved since ``before``."""
    lines = [f"{'':46} {'goal':>9} {'median':>9} {'best':>9}  {'min - max':<17} {'since':>6}"]
    for row, rounds in results.rows():
        lines.append(
            f"{row.what[:46]:46} {row.goal:>9} {short(statistics.median(rounds)):>9} "
            f"{short(row.best(rounds)):>9}  {_spread(rounds) + ' ' + row.unit:<17} "
            f"{moved(row, rounds, before):>6}  {row.verdict(rounds)}".rstrip()
        )
    return "\n".join(lines)


def moved(row: Row, rounds: Rounds, before: Results | None) -> str:
    """How much bigger or smaller the median is than it was, in percent."""
    then = before.rounds.get(row.figure) if before else None
    if not then or not statistics.median(then):
        return ""
    return f"{(statistics.median(rounds) / statistics.median(then) - 1) * 100:+.0f}%"


def _spread(rounds: Rounds) -> str:
    return f"{short(min(rounds))} - {short(max(rounds))}"


def markdown(results: Results) -> str:
    """The table of the page."""
    lines = [
        f"Measured on {results.machine}.",
        "",
        "| | goal | median | min - max | |",
        "|---|---|---|---|---|",
    ]
    for row, rounds in results.rows():
        middle = f"{short(statistics.median(rounds))} {row.unit}"
        lines.append(
            f"| {row.what} | {row.goal} | {middle} | {_spread(rounds)} | {row.verdict(rounds)} |"
        )
    return "\n".join(lines) + "\n"


def with_table(page: str, results: Results, *, begin: str = BEGIN) -> str:
    """The page with this table in the place of the one it has."""
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(END)
    return f"{head}{begin}\n{markdown(results)}\n{END}{tail}"


def machine(pieces: Pieces, folder: Path) -> str:
    """What the figures depend on."""
    parts = [
        f"{os.cpu_count()} cores",
        f"Linux {platform.release().split('-')[0]}",
        f"Python {platform.python_version()} (asyncio)",
        f"msgspec {version('msgspec')}",
        f"SQLite {sqlite3.sqlite_version} on {filesystem_of(folder)}",
    ]
    if pieces.node:
        said = subprocess.run([str(pieces.node), "--version"], capture_output=True, text=True)
        lock = msgspec.json.decode((NODE_FOLDER / "package-lock.json").read_bytes())
        parts.append(
            f"Node {said.stdout.strip()}, ws {lock['packages']['node_modules/ws']['version']}"
        )
    if pieces.sdk:
        parts.append(SDK_REQUIREMENTS.read_text().strip().replace("==", " "))
    return ", ".join(parts)
