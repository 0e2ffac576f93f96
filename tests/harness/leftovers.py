"""What a test run leaves behind on the machine: processes, and sockets still listened on.

A process belongs to the run when it carries the run's mark in its environment, or, because
agents get a stripped environment, when anything it has (home, folder, arguments, open files,
Unix sockets) lies under the run's folder; and so does every descendant of one that does.
Reads ``/proc``; elsewhere it finds nothing.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

MARK = "FLYBRIDGE_TEST_RUN"
PROC = Path("/proc")


class Leftover(NamedTuple):
    pid: int
    command: str
    why: str


def find_processes(run: str, base: Path, *, own: bool = False) -> list[Leftover]:
    """Processes of the run that still live; not this one, its ancestors, or zombies. ``own``: only
    those that show that they belong there, whoever started them."""
    above = set(_walk_up(os.getpid()))
    sockets = _sockets_under(base)
    alive = [int(entry.name) for entry in PROC.glob("[0-9]*")]
    alive = [pid for pid in alive if pid not in above and _state(pid) not in "ZX"]
    reasons = {pid: _belongs(PROC / str(pid), run, base, sockets) for pid in alive}
    started = {pid for pid, why in reasons.items() if why} | {os.getpid()}
    for pid in alive:
        if not own and not reasons[pid] and started.intersection(_walk_up(pid)):
            reasons[pid] = "started by one of this run"
    return [Leftover(pid, _command(PROC / str(pid)), why) for pid, why in reasons.items() if why]


def wait_until_gone(run: str, base: Path, wait_s: float, *, own: bool = False) -> list[Leftover]:
    """Give what is ending a moment; return what stays."""
    deadline = time.monotonic() + wait_s
    while (left := find_processes(run, base, own=own)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def find_sockets(base: Path) -> list[str]:
    """Sockets under ``base`` that somebody still holds open.

    The mere file of one is no leftover: a process that a test killed cannot remove its own.
    """
    return sorted(set(_sockets_under(base).values()))


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _belongs(entry: Path, run: str, base: Path, sockets: dict[str, str]) -> str:
    try:
        environ = (entry / "environ").read_bytes()
        if f"{MARK}={run}".encode() in environ.split(b"\0"):
            return "carries the mark of this run"
        if os.fsencode(base) in environ:  # HOME and TMPDIR pass where the mark does not
            return "lives in the run's folder"
        if os.fsencode(base) in (entry / "cmdline").read_bytes():
            return "named after the run's folder"
        for link in (entry / "cwd", *(entry / "fd").iterdir()):
            target = _target(link)
            if Path(target).is_relative_to(base):
                return f"holds {target}"
            if target in sockets:
                return f"holds {sockets[target]}"
    except OSError:  # gone meanwhile, or somebody else's
        pass
    return ""


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _sockets_under(base: Path) -> dict[str, str]:
    """Bound Unix sockets under a folder: ``socket:[inode]`` and their paths."""
    try:
        lines = (PROC / "net/unix").read_text().splitlines()[1:]
    except OSError:
        return {}
    rows = [line.split(maxsplit=7) for line in lines]
    return {
        f"socket:[{row[6]}]": row[7]
        for row in rows
        if len(row) == 8 and Path(row[7]).is_relative_to(base)
    }


def _walk_up(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        fields = _stat(pid)
        pid = int(fields[1]) if len(fields) > 1 else 0


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else "X"


def _stat(pid: int) -> list[str]:
    try:
        # the name in parentheses may hold anything, a closing parenthesis too
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _command(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    except OSError:
        return "?"
