"""What a test run leaves behind on the machine: processes, and sockets still listened on.

A process belongs to the run when it carries the run's mark in its environment, or, because
agents get a stripped environment, when anything it has (home, folder, arguments, open files,
Unix sockets) lies under the run's folder; and so does every descendant of one that does.
Keepers and their starter do not let an ordinary user look into them; when nothing above them is
left, they are found by the sockets on which they listen.
Reads ``/proc``; elsewhere it finds nothing.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.harness.waiting import WAIT_S

MARK = "FLYBRIDGE_TEST_RUN"
NO_RUN = "no run has this mark"
PROC = Path("/proc")
LISTENS = "00010000"  # the flags of a listening socket in /proc/net/unix


class Leftover(NamedTuple):
    pid: int
    command: str
    why: str


def find_processes(run: str, base: Path, *, own: bool = False) -> list[Leftover]:
    """Processes of the run that still live; not this one, its ancestors, or zombies. ``own``: only
    those that show that they belong there, and their descendants; not what this process started."""
    above = set(_walk_up(os.getpid()))
    sockets = _sockets_under(base)
    alive = [int(entry.name) for entry in PROC.glob("[0-9]*")]
    alive = [pid for pid in alive if pid not in above and _state(pid) not in "ZX"]
    reasons = {pid: _belongs(PROC / str(pid), run, base, sockets) for pid in alive}
    started = {pid for pid, why in reasons.items() if why} | (set() if own else {os.getpid()})
    for pid in alive:
        if not reasons[pid] and started.intersection(_walk_up(pid)):
            reasons[pid] = "started by one of this run"
    if hidden := {pid for pid in alive if not reasons[pid] and _is_hidden(pid)}:
        for pid, path in _listeners(base):
            if pid in hidden:
                reasons[pid] = f"listens on {path}"
    return [Leftover(pid, _command(PROC / str(pid)), why) for pid, why in reasons.items() if why]


def wait_until_gone(run: str, base: Path, wait_s: float, *, own: bool = False) -> list[Leftover]:
    """Give what is ending a moment; return what stays."""
    deadline = time.monotonic() + wait_s
    while (left := find_processes(run, base, own=own)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def find_sockets(base: Path, wait_s: float = 0.0) -> list[str]:
    """Sockets under ``base`` that somebody still holds open after ``wait_s``: a process that ends
    is out of sight a moment before its sockets are closed.

    The mere file of one is no leftover: a process that a test killed cannot remove its own.
    """
    deadline = time.monotonic() + wait_s
    while (left := set(_sockets_under(base).values())) and time.monotonic() < deadline:
        time.sleep(0.05)
    return sorted(left)


def kill_below(base: Path) -> list[int]:
    """Kill what belongs to a folder; return what was there to be killed."""
    found = [one.pid for one in find_processes(NO_RUN, base, own=True)]
    for pid in found:
        kill(pid)
    return found


def expect_none_below(base: Path) -> None:
    """Wait until nothing that belongs to a folder runs any more; kill what stays.

    Raises:
        AssertionError: something had to be killed.
    """
    left = wait_until_gone(NO_RUN, base, WAIT_S, own=True)
    for one in left:
        kill(one.pid)
    assert left == []


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _belongs(entry: Path, run: str, base: Path, sockets: dict[str, str]) -> str:
    environ = _read(entry / "environ")
    if f"{MARK}={run}".encode() in environ.split(b"\0"):
        return "carries the mark of this run"
    if os.fsencode(base) in environ:  # HOME and TMPDIR pass where the mark does not
        return "lives in the run's folder"
    if os.fsencode(base) in _read(entry / "cmdline"):  # which can be read of every process
        return "named after the run's folder"
    try:
        links = [entry / "cwd", *(entry / "fd").iterdir()]
    except OSError:  # gone meanwhile, or not ours to look into
        return ""
    for target in map(_target, links):
        if Path(target).is_relative_to(base):
            return f"holds {target}"
        if target in sockets:
            return f"holds {sockets[target]}"
    return ""


def _read(path: Path) -> bytes:
    """Return what a file of ``/proc`` holds; nothing if it is gone or not ours to read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _is_hidden(pid: int) -> bool:
    """Whether this is a process of the same user that cannot be looked into."""
    users = [line for line in _read(PROC / str(pid) / "status").splitlines() if b"Uid:" in line]
    if not users or int(users[0].split()[1]) != os.getuid():
        return False
    try:
        (PROC / str(pid) / "environ").open("rb").close()
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _listeners(base: Path) -> Iterator[tuple[int, str]]:
    """Yield who listens on a socket under a folder: the kernel tells whoever connects."""
    for path in {row[7] for row in _bound_under(base) if row[3] == LISTENS}:
        with socket.socket(socket.AF_UNIX) as knock:
            knock.setblocking(False)
            try:
                knock.connect(path)
                raw = knock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            except OSError:
                continue
        pid, _, _ = struct.unpack("3i", raw)
        yield pid, path


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _sockets_under(base: Path) -> dict[str, str]:
    """Bound Unix sockets under a folder: ``socket:[inode]`` and their paths."""
    return {f"socket:[{row[6]}]": row[7] for row in _bound_under(base)}


def _bound_under(base: Path) -> list[list[str]]:
    """Return the kernel's table of Unix sockets, as far as they are bound under a folder."""
    lines = os.fsdecode(_read(PROC / "net/unix")).splitlines()[1:]
    rows = [line.split(maxsplit=7) for line in lines]
    return [row for row in rows if len(row) == 8 and Path(row[7]).is_relative_to(base)]


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
