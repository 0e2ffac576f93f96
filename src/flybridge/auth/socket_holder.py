"""Find the process on this machine that has the other end of a connection open.

A process is asked by reading its descriptor table, ``/proc/PID/fd``. That shows the table of its
first thread only. An agent can give another thread a table of its own, so below keepers the tables
of all threads are read. Elsewhere nobody has a reason to hide.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import platform
import time
from collections.abc import Iterable, Set
from typing import NamedTuple

from flybridge.auth.peer import is_keeper
from flybridge.auth.peer_socket import Address, find_in_tables, find_socket
from flybridge.runtime.keeper.keeper_program import Process, lineage, processes

MAX_FILES = 200_000  # descriptors that one search looks at
MAX_S = 2.0  # of a processor that it may take: on a loaded machine that is longer by the clock
_KCMP = {"x86_64": 312, "aarch64": 272, "riscv64": 272}.get(platform.machine(), 0)
_KCMP_FILES = 2
_libc = ctypes.CDLL(None, use_errno=True)


class Holders(NamedTuple):
    """The processes that have a socket open."""

    below: bool = False  # one below a keeper does
    outside: Process | None = None  # one that is not below any


class SearchBoundError(Exception):
    """Raised by a search that has looked at more than it may."""


class _Bound:
    """Counts down what a search may look at."""

    def __init__(self) -> None:
        self._files = MAX_FILES
        self._until_s = time.thread_time() + MAX_S

    def spend(self, files: int) -> None:
        self._files -= files
        if self._files < 0 or time.thread_time() > self._until_s:
            raise SearchBoundError


def holder_of(client: Address, server: Address, some: Iterable[Process] | None) -> Process | None:
    """Return the process among ``some`` (None: any of this user's) that is connected like that."""
    try:
        found = find_socket(client, server)
    except (OSError, ValueError):
        found = None
    try:
        found = found or find_in_tables([(client, server)]).get((client, server))
    except (OSError, ValueError):
        return None
    if found is None or found.uid != os.geteuid() or not found.inode:
        return None
    bound = _Bound()
    try:
        for process in processes() if some is None else some:
            if process.pid == os.getpid():
                continue
            if _held_in(f"/proc/{process.pid}/fd", {_link(found.inode)}, bound):
                return process
    except SearchBoundError:
        pass
    return None


def is_held_by(holder: Process, inode: int, keepers: set[tuple[int, str]]) -> bool:
    """Return whether this process has the socket open and is surely not below a keeper."""
    bound = _Bound()
    try:
        held = _held_in(f"/proc/{holder.pid}/fd", {_link(inode)}, bound)
    except SearchBoundError:
        return False
    return bool(held) and is_outside(holder, keepers)


def is_outside(process: Process, keepers: set[tuple[int, str]]) -> bool:
    """Return whether a process is surely not below a keeper.

    Its ancestors are read after its descriptors: who got its pid since is not taken for it. An
    ancestor that is younger than its child has the pid of one that has ended.
    """
    chain = lineage(process.pid)
    if not chain or chain[0].start != process.start:
        return False
    starts = [int(ancestor.start) for ancestor in chain]
    if any(above > below for below, above in itertools.pairwise(starts)):
        return False
    return not any(
        (ancestor.pid, ancestor.start) in keepers or is_keeper(ancestor) for ancestor in chain
    )


def find_holders(inodes: Iterable[int], keepers: set[tuple[int, str]]) -> dict[int, Holders | None]:
    """Return who holds each of these sockets; None: the search exceeded its bound.

    Outside keepers the youngest processes are looked at first: a program that has just connected
    has often just been started.
    """
    wanted = {_link(inode): inode for inode in inodes}
    outside: dict[int, Process] = {}
    below: set[int] = set()
    bound = _Bound()
    complete = False
    try:
        agents, others = _divide(keepers)
        for process in sorted(others, key=lambda other: int(other.start), reverse=True):
            left = wanted.keys() - {_link(inode) for inode in outside}
            if not left:
                break
            for link in _held_in(f"/proc/{process.pid}/fd", left, bound):
                if is_outside(process, keepers):
                    outside[wanted[link]] = process
                else:
                    below.add(wanted[link])
        for process in agents:
            below |= {wanted[link] for link in _held_by_threads(process.pid, wanted.keys(), bound)}
        complete = True
    except SearchBoundError:
        pass
    return {
        inode: Holders(inode in below, outside.get(inode)) if complete or inode in below else None
        for inode in wanted.values()
    }


# ---- inside --------------------------------------------------------------------------------------


def _link(inode: int) -> str:
    return f"socket:[{inode}]"


def _divide(keepers: set[tuple[int, str]]) -> tuple[list[Process], list[Process]]:
    """Return all keepers with every process below them, and all other processes.

    Keepers of other gateways are recognised by their command line.
    """
    children: dict[int, list[Process]] = {}
    todo: list[Process] = []
    rest: dict[int, Process] = {}
    above_us = lineage(os.getpid()) or []
    for process in processes():
        children.setdefault(process.parent, []).append(process)
        rest[process.pid] = process
        leads = process.pid == process.group  # as every keeper does: saves reading its arguments
        if (process.pid, process.start) in keepers or (leads and is_keeper(process, above_us)):
            todo.append(process)
    below: list[Process] = []
    while todo:
        process = todo.pop()
        if rest.pop(process.pid, None) is not None:
            below.append(process)
        todo += children.pop(process.pid, [])
    return below, list(rest.values())


def _held_by_threads(pid: int, wanted: Set[str], bound: _Bound) -> set[str]:
    """Return which of the wanted sockets any thread of a process has open."""
    held = _held_in(f"/proc/{pid}/fd", wanted, bound)
    try:
        threads = [int(name) for name in os.listdir(f"/proc/{pid}/task")]  # noqa: PTH208
    except OSError:
        return held
    for thread in threads:
        if thread != pid:
            bound.spend(1)
            if not _share_files(pid, thread):
                held |= _held_in(f"/proc/{pid}/task/{thread}/fd", wanted, bound)
    return held


def _share_files(pid: int, thread: int) -> bool:
    """Return whether two threads surely have the same descriptor table."""
    return bool(_KCMP) and _libc.syscall(_KCMP, pid, thread, _KCMP_FILES, 0, 0) == 0


def _held_in(folder: str, wanted: Set[str], bound: _Bound) -> set[str]:
    """Return which of the wanted links a descriptor table has; none if it cannot be read."""
    try:
        table = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # gone, another user's, or a program that hides its memory
        return set()
    held: set[str] = set()
    try:
        names = os.listdir(table)  # noqa: PTH208
        bound.spend(len(names) + 1)
        for name in names:
            try:
                link = os.readlink(name, dir_fd=table)
            except OSError:
                continue
            if link in wanted:
                held.add(link)
    except OSError:
        pass
    finally:
        os.close(table)
    return held
