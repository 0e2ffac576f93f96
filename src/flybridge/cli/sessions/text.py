"""Sessions as people name and read them: short ids, a line each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from flybridge.cli.rendering.columns import cut, table
from flybridge.cli.rendering.safe_text import one_line
from flybridge.errors import InvalidRequestError, SessionNotFoundError

SHORT = 12  # "ses_" and eight letters
TITLE = 40
HEADINGS = ("ID", "TITLE", "AGENT", "STATUS", "DIRECTORY", "CHANGED")

Listed: TypeAlias = Mapping[str, Any]


def find_session(rows: Sequence[Listed], given: str) -> str:
    """The id that begins like ``given``, with or without ``ses_``.

    Raises:
        SessionNotFoundError: there is none.
        InvalidRequestError: there are several.
    """
    ids = [str(row["session"]) for row in rows]
    wanted = given if given.startswith("ses_") else f"ses_{given}"
    found = [one for one in ids if one == wanted] or [one for one in ids if one.startswith(wanted)]
    if not given or not found:
        raise SessionNotFoundError(given)
    if len(found) > 1:
        names = ", ".join(cut(one, 24) for one in found[:5])
        raise InvalidRequestError(f"{given!r} could be any of {names}: say more of it")
    return found[0]


def newest_in(rows: Sequence[Listed], cwd: str) -> str:
    """The session of a directory that changed last and still takes input.

    Raises:
        InvalidRequestError: there is none.
    """
    here = [row for row in rows if row["cwd"] == cwd and row["status"] != "closed"]
    if not here:
        raise InvalidRequestError(f"no open session in {cwd}; leave out --last to begin one")
    return str(max(here, key=lambda row: int(row["changed_ms"]))["session"])


def session_lines(
    rows: Sequence[Listed],
    *,
    heads: Mapping[str, str] | None = None,
    width: int | None = None,
    now_ms: int | None = None,
) -> list[str]:
    """A table, newest first; ``heads`` stand in for titles that are missing."""
    if not rows:
        return ["no sessions"]
    now_ms = now_ms or time.time_ns() // 1_000_000
    newest = sorted(rows, key=lambda row: int(row["changed_ms"]), reverse=True)
    cells = [_cells(row, heads or {}, now_ms) for row in newest]
    return table([HEADINGS, *cells], width)


def id_lines(rows: Sequence[Listed]) -> list[str]:
    """What a control message calls each session, never cut short."""
    heading = ("TEAM", "SESSION_ID", "AGENT_ID", "STATUS")
    cells = [
        (
            one_line(str(row["team"])),
            str(row["session"]),
            one_line(str(row["agent_id"])),
            str(row["status"]),
        )
        for row in rows
    ]
    return table([heading, *cells], None) if rows else ["no sessions"]


def _cells(row: Listed, heads: Mapping[str, str], now_ms: int) -> list[str]:
    session = str(row["session"])
    title = one_line(str(row["title"] or heads.get(session, "")))
    return [
        session[:SHORT],
        cut(title or "-", TITLE),
        one_line(str(row["agent"])),
        status_text(row),
        one_line(str(row["cwd"])),
        age(now_ms - int(row["changed_ms"])),
    ]


def status_text(row: Listed) -> str:
    """Status, and what it waits for if that says more."""
    status, why = str(row["status"]), str(row["why"])
    if why in ("permission", "question"):
        return f"needs you: {why}"
    shown = f"{status}: {why}" if why not in ("nothing", "model", "queue") else status
    return f"{shown}, archived" if row.get("archived") else shown


def age(ms: int) -> str:
    """How long ago, roughly."""
    seconds = max(ms, 0) // 1000
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "now" if seconds < 10 else f"{seconds} s ago"
