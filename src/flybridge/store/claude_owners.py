"""Which processes have a conversation of Claude's open: nothing stops two from writing to it.

Newer versions keep a list of themselves, ``<config>/sessions/<pid>.json``, that outlives a
crash; older ones show it only in their arguments. A pid means nothing without its start time.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from flybridge.wire.claude.transcript import is_session_id

MAX_ENTRIES = 4096
MAX_BYTES = 64 << 10
OPTIONS = (b"--resume", b"-r", b"--session-id")


class Owner(msgspec.Struct, frozen=True):
    pid: int
    told_by: str  # its entry in Claude's own list, or its arguments


class _Entry(msgspec.Struct):
    pid: int
    session: str = msgspec.field(name="sessionId", default="")
    start: str | int = msgspec.field(name="procStart", default="")


def owners_of(config: Path, session: str, *, proc: Path = Path("/proc")) -> list[Owner]:
    """The living processes that say they work on this conversation; our own is none of them."""
    if not is_session_id(session):
        return []
    found = dict.fromkeys(_listed(config / "sessions", session, proc), "list")
    for pid in _named(session, proc):
        found.setdefault(pid, "arguments")
    found.pop(os.getpid(), None)
    return [Owner(pid, told_by) for pid, told_by in sorted(found.items())]


def _listed(folder: Path, session: str, proc: Path) -> Iterator[int]:
    for name in _names(folder):
        if not name.endswith(".json"):
            continue
        try:
            entry = msgspec.json.decode(_head(folder / name), type=_Entry)
        except (OSError, msgspec.DecodeError):
            continue
        if entry.session == session and _start_of(entry.pid, proc) == str(entry.start):
            yield entry.pid


def _named(session: str, proc: Path) -> Iterator[int]:
    wanted = session.encode()
    for name in _names(proc):
        if not name.isdecimal():
            continue
        try:
            words = _head(proc / name / "cmdline").split(b"\0")
        except OSError:  # gone, or somebody else's
            continue
        if wanted in _conversations(words):
            yield int(name)


def _conversations(words: list[bytes]) -> set[bytes]:
    """What a program with these arguments writes to. A fork only reads what it resumes."""
    options = (b"--session-id",) if b"--fork-session" in words else OPTIONS
    apart = {value for option, value in itertools.pairwise(words) if option in options}
    return apart | {
        word[len(option) + 1 :]
        for word in words
        for option in options
        if word[: len(option) + 1] == option + b"="
    }


def _start_of(pid: int, proc: Path) -> str:
    """When a process began, as the kernel counts; empty: there is none of that number."""
    try:
        rest = _head(proc / str(pid) / "stat").rpartition(b")")[2].split()
        return rest[19].decode()
    except (OSError, IndexError, UnicodeDecodeError):
        return ""


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False)]
    except OSError:
        return []


def _head(path: Path) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.read(fd, MAX_BYTES)
    finally:
        os.close(fd)
