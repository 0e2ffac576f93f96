"""Processes as the kernel shows them: who lives, who descends from whom, who must go.

A pid alone names nobody for long. Everything here goes by pid *and* start time, and on another
boot by nothing at all. The reading of /proc is the keeper's own, so that both sides mean the
same; ``FLYBRIDGE_BOOT_ID`` in the environment replaces the boot id for both (tests use it to
play a reboot, nothing else should).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable

from flybridge.runtime.keeper.keeper_program import (
    Process,
    boot_id,
    kill_exactly,
    lineage,
    process,
    processes,
    read_file,
)

__all__ = ["alive", "ancestors", "boot_id", "descends_from", "fence", "start_time"]

_ENVIRON_BYTES = 4 * 2**20  # the kernel allows less by default
_LOOK_S = 0.02


def start_time(pid: int) -> str | None:
    """Return when this process started, in the kernel's own count; None when it is gone."""
    one = process(pid)
    return one.start if one else None


def alive(pid: int, start: str) -> bool:
    """Whether this very process still runs. A zombie does not."""
    one = process(pid)
    return one is not None and one.start == start and not one.dead


def ancestors(pid: int) -> list[int]:
    """Return the pids above this one, nearest first; nothing when that cannot be told."""
    return [one.pid for one in (lineage(pid) or [])[1:]]


def descends_from(pid: int, keepers: Iterable[tuple[int, str]]) -> bool:
    """Whether this process runs below one of these keepers (pid, start time).

    It decides about rights, so whoever cannot be judged (gone already, or nested without end)
    counts as a descendant.
    """
    chain = lineage(pid)
    if chain is None:
        return True
    known = set(keepers)
    return any((one.pid, one.start) in known for one in chain)


async def fence(
    *, group: int, start: str, boot: str, marker: tuple[str, str], timeout_s: float
) -> bool:
    """Kill what is left of an agent whose keeper is gone; return whether all of it is gone.

    The recorded leader and its group go only while the leader's pid and start time match; who
    carries ``marker`` (name, value) in its environment goes wherever it is. Strangers are never
    touched, whatever pid they got, and on another boot there is nothing left to kill.
    """
    if boot != boot_id():
        return True
    word = f"{marker[0]}={marker[1]}".encode()
    deadline = time.monotonic() + timeout_s
    clean = 0
    while clean < 2:  # two clean looks: one may miss a process that forks while it is made
        left = await asyncio.to_thread(_kill_left, group, start, word)
        clean = 0 if left else clean + 1
        if time.monotonic() >= deadline:
            return not left
        await asyncio.sleep(_LOOK_S)
    return True


def _kill_left(group: int, start: str, word: bytes) -> int:
    """Kill every straggler this look finds; return how many it found."""
    leader = process(group)
    known_group = leader is not None and leader.start == start
    victims = [one for one in processes() if _is_left(one, group if known_group else -1, word)]
    for victim in victims:
        kill_exactly(victim)
    return len(victims)


def _is_left(one: Process, group: int, word: bytes) -> bool:
    if one.dead or one.pid == os.getpid():
        return False
    return one.group == group or word in read_file(
        f"/proc/{one.pid}/environ", _ENVIRON_BYTES
    ).split(b"\0")
