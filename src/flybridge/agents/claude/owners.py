"""Which processes have a conversation of Claude's open: nothing stops two from writing to it.

Newer versions keep a list of themselves, ``<config>/sessions/<pid>.json``, that outlives a crash.
Older ones write over their arguments; those that a keeper of ours started are known by their
environment, and of the others one can only say that it runs in the directory of a conversation
that grew since. A pid means nothing without its start time.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from flybridge.agents.claude.history import ClaudeHistory, Transcript
from flybridge.agents.claude.wire.transcript import is_folder_of, is_session_id
from flybridge.session.ports import CONVERSATION_ENV

MAX_ENTRIES = 1 << 16
MAX_BYTES = 64 << 10
MAX_ENVIRON = 4 << 20
DEAD = (b"Z", b"X")  # nobody has asked yet how it ended
OPTIONS = (b"--resume", b"-r", b"--session-id")
OURS = b"flybridge"  # a client of ours only asks for it, with the same words
KEEPER = b"keeper_program"
TITLE = [b"claude"]  # all that an older version leaves of its arguments
PROC = Path("/proc")
STARTING_S, LOOK_S = 2.0, 0.002
Told: TypeAlias = Literal[
    "list",  # its entry in Claude's own list
    "arguments",
    "environment",  # a keeper of ours started it
    "looks",  # nobody knows, but it may well be
]


class Owner(msgspec.Struct, frozen=True):
    pid: int
    told_by: Told


class _Entry(msgspec.Struct):
    pid: int
    session: str = msgspec.field(name="sessionId", default="")
    start: str | int = msgspec.field(name="procStart", default="")


def owners_of(
    config: Path,
    session: str,
    *,
    transcript: Transcript | None = None,
    but: Collection[str] = (),
    proc: Path = PROC,
) -> list[Owner]:
    """The living processes that work on this conversation, as far as can be told.

    Our own process is none of them, nor is any that has all of ``but``, ``NAME=value`` each, in
    its environment. Without a ``transcript`` nobody is suspected for its looks.
    """
    if not is_session_id(session):
        return []
    look = _Look(config, session, transcript, proc)
    found = [Owner(pid, told) for pid in look.pids() if (told := look.told_by(pid))]
    marks = {os.fsencode(one) for one in but}
    return [one for one in found if not (marks and marks <= set(_environ(one.pid, proc)))]


class _Look:
    """One look at all processes."""

    def __init__(
        self, config: Path, session: str, transcript: Transcript | None, proc: Path
    ) -> None:
        self._config = config
        self._session = session.encode()
        self._transcript = transcript
        self._proc = proc
        self._listed = dict(_listed(config / "sessions", proc))
        self._words = dict(_arguments(proc))
        self._keepers = {
            pid for pid, words in self._words.items() if any(KEEPER in word for word in words)
        }

    def pids(self) -> list[int]:
        return sorted((self._listed.keys() | self._words.keys()) - {os.getpid()})

    def told_by(self, pid: int) -> Told | None:
        words = self._words.get(pid, [])
        if self._listed.get(pid) == self._session:
            return "list"
        if self._session in _conversations(words):
            return "arguments" if self._is_at_home(pid) else None
        if _parent(pid, self._proc) in self._keepers:
            mark = CONVERSATION_ENV.encode() + b"=" + self._session
            told = mark in self._of_agent(pid) and self._is_at_home(pid)
            return "environment" if told else None
        if words == TITLE and pid not in self._listed and self._may_be(pid):
            return "looks"
        return None

    def _of_agent(self, pid: int) -> list[bytes]:
        """An agent's environment. For a moment after its program was started it has none."""
        deadline = time.monotonic() + STARTING_S
        while (found := _environ(pid, self._proc)) == [b""] and _stat(pid, self._proc):
            if time.monotonic() > deadline:
                break
            time.sleep(LOOK_S)
        return found

    def _may_be(self, pid: int) -> bool:
        """Whether it runs where this conversation is, which was written to since it began."""
        place = self._transcript
        if place is None or not 0 < _began_ms(pid, self._proc) <= place.modified_ms:
            return False
        if self._variables(pid).get(CONVERSATION_ENV, "") not in ("", place.session):
            return False  # ours, and known to have another one
        try:
            cwd = str((self._proc / str(pid) / "cwd").readlink())
        except OSError:
            return False
        return self._is_at_home(pid) and is_folder_of(place.folder, cwd)

    def _is_at_home(self, pid: int) -> bool:
        """Whether it keeps its conversations here; a copy elsewhere is another conversation."""
        env = self._variables(pid)
        return bool(env) and ClaudeHistory.of(env).config == self._config

    def _variables(self, pid: int) -> dict[str, str]:
        pairs = (one.partition(b"=") for one in _environ(pid, self._proc))
        return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}


# ---- what is told ------------------------------------------------------------------------------


def _listed(folder: Path, proc: Path) -> Iterator[tuple[int, bytes]]:
    for name in _names(folder):
        if not name.endswith(".json"):
            continue
        try:
            entry = msgspec.json.decode(_head(folder / name), type=_Entry)
        except (OSError, msgspec.DecodeError):
            continue
        start = _stat(entry.pid, proc)[19:20]
        if start == [str(entry.start).encode()]:
            yield entry.pid, entry.session.encode()


def _arguments(proc: Path) -> Iterator[tuple[int, list[bytes]]]:
    for name in _names(proc):
        if not name.isdecimal():
            continue
        try:
            words = _head(proc / name / "cmdline").rstrip(b"\0").split(b"\0")
        except OSError:  # gone, or somebody else's
            continue
        yield int(name), words


def _conversations(words: list[bytes]) -> set[bytes]:
    """What a program with these arguments writes to. A fork only reads what it resumes."""
    if OURS in {word.rpartition(b"/")[2] for word in words[:3]}:
        return set()
    options = (b"--session-id",) if b"--fork-session" in words else OPTIONS
    apart = {value for option, value in itertools.pairwise(words) if option in options}
    return apart | {
        word[len(option) + 1 :]
        for word in words
        for option in options
        if word[: len(option) + 1] == option + b"="
    }


# ---- what the kernel tells ---------------------------------------------------------------------


def _stat(pid: int, proc: Path) -> list[bytes]:
    """The fields behind a process's name; none when none of that number lives."""
    try:
        fields = _head(proc / str(pid) / "stat").rpartition(b")")[2].split()
    except OSError:
        return []
    return [] if fields[:1] in ([one] for one in DEAD) else fields


def _parent(pid: int, proc: Path) -> int:
    return int((_stat(pid, proc)[1:2] or [b"0"])[0])


def _began_ms(pid: int, proc: Path) -> int:
    """When a process began, by the clock; 0 when that cannot be told."""
    try:
        lines = _head(proc / "stat").splitlines()
        booted = next(int(line.split()[1]) for line in lines if line.startswith(b"btime "))
        ticks = int(_stat(pid, proc)[19])
    except (OSError, ValueError, IndexError, StopIteration):
        return 0
    return booted * 1000 + ticks * 1000 // os.sysconf("SC_CLK_TCK")


def _environ(pid: int, proc: Path) -> list[bytes]:
    try:
        return _head(proc / str(pid) / "environ", MAX_ENVIRON).split(b"\0")
    except OSError:
        return []


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry, _ in zip(entries, range(MAX_ENTRIES), strict=False)]
    except OSError:
        return []


def _head(path: Path, size: int = MAX_BYTES) -> bytes:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return os.read(fd, size)
    finally:
        os.close(fd)
