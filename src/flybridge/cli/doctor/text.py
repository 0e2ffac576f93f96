"""What the doctor says: each check a line, each finding of a probe a line, then the sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from flybridge.cli.rendering.columns import cells, wrap
from flybridge.cli.rendering.safe_text import one_line
from flybridge.cli.rendering.screen import Look
from flybridge.cli.rendering.styles import ASCII, BOLD, DIM, GREEN, RED, YELLOW, coloured
from flybridge.probes.report import Finding, Report, summary

Status: TypeAlias = Literal["ok", "note", "problem"]
COLOURS = {
    "ok": GREEN,
    "note": YELLOW,
    "problem": RED,
    "same": GREEN,
    "changed": YELLOW,
    "broken": RED,
}
FIRST = 9  # columns of the status and what separates it
NARROWEST = 24


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at. ``fix`` says what to do about it; ``data`` is for programs."""

    area: str
    status: Status = "ok"
    text: str
    detail: str = ""
    fix: str = ""
    data: dict[str, object] = {}


def check_lines(checks: Sequence[Check], look: Look, width: int | None) -> list[str]:
    """Every check in aligned columns, then how many problems there are."""
    second = max((cells(one.area) for one in checks), default=0) + 2
    lines: list[str] = []
    for one in checks:
        lines += _entry(one.status, one.area.ljust(second), one.text, look, width)
        if one.detail:
            lines += _below(second, one.detail, look, width)
        if one.fix:
            lines += _below(second, f"→ {one.fix}", look, width)
    return [*lines, "", coloured(_sum(checks), BOLD, colour=look.colour)]


def _sum(checks: Sequence[Check]) -> str:
    problems = sum(one.status == "problem" for one in checks)
    notes = sum(one.status == "note" for one in checks)
    words = [_many(problems, "problem"), *([_many(notes, "note")] if notes else [])]
    return ", ".join(words)


def _many(count: int, word: str) -> str:
    return f"{count or 'no'} {word}{'' if count == 1 else 's'}"


# ---- probes --------------------------------------------------------------------------------------


def opening_line(report: Report) -> str:
    """What is about to be tried, on what, and how well it is shut in."""
    version = report.version or "of an unknown version"
    network = "no network" if report.offline else "but not cut off from the network"
    return one_line(
        f"{report.agent} {version} ({' '.join(report.program)}), compared with {report.against}, "
        f"scripted model, {network}"
    )


def finding_lines(one: Finding, second: int, look: Look, width: int | None) -> list[str]:
    """One finding; nothing about what was not tried, the sum says how much that is."""
    if not one.was_tried:
        return []
    lines = _entry(one.verdict, one.about.ljust(second), one.found, look, width)
    if one.verdict != "same":
        lines += _below(second, f"expected: {one.expected}", look, width)
    return lines


def summary_lines(report: Report, look: Look, width: int | None) -> list[str]:
    counts = [f"{len(report.those(one))} {one}" for one in ("same", "changed", "broken")]
    counts += [f"{len(report.untried)} not tried"] if report.untried else []
    lines = [
        "",
        coloured(f"{', '.join(counts)}, in {report.seconds:.0f} s", BOLD, colour=look.colour),
    ]
    for line in summary(report):
        rows = wrap(_plain(line, look), width or 10**6)
        lines += [rows[0], *(f"  {row}" for row in rows[1:])]
    return lines


# ---- columns -------------------------------------------------------------------------------------


def _entry(status: str, second: str, text: str, look: Look, width: int | None) -> list[str]:
    head = coloured(status, COLOURS[status], colour=look.colour) + " " * (FIRST - len(status))
    rows = _rows(len(second), text, look, width)
    return [f"{head}{second}{rows[0]}", *(_indent(second, row) for row in rows[1:])]


def _below(second: int, text: str, look: Look, width: int | None) -> list[str]:
    rows = _rows(second, text, look, width)
    return [_indent(" " * second, coloured(row, DIM, colour=look.colour)) for row in rows]


def _rows(second: int, text: str, look: Look, width: int | None) -> list[str]:
    room = 10**6 if width is None else max(width - FIRST - second, NARROWEST)
    return wrap(_plain(text, look), room)


def _indent(second: str, row: str) -> str:
    return " " * (FIRST + len(second)) + row


def _plain(text: str, look: Look) -> str:
    safe = one_line(text)
    return safe if look.unicode else safe.translate(ASCII)
