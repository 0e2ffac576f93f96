"""What a process has used of the machine, as the kernel counts it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

GRACE_S = 10.0


def cpu_s(pid: int) -> float:
    """CPU time of all threads of a process that are still there."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:  # a thread that has just ended
            continue
    return total / 1e9


def rss_kib(pid: int) -> float:
    for row in Path(f"/proc/{pid}/status").read_text().splitlines():
        if row.startswith("VmRSS"):
            return float(row.split()[1])
    return 0.0


def keepers_of(pid: int) -> set[int]:
    """The keepers that a gateway has started, itself or through its starter."""
    parents: dict[int, int] = {}
    above = {pid}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"keeper_program" in command:
            parents[int(entry.name)] = parent
        elif parent == pid and b"starter_program" in command:
            above.add(int(entry.name))
    return {keeper for keeper, parent in parents.items() if parent in above}


async def ended(process: asyncio.subprocess.Process) -> None:
    """Wait for a process of ours that was told to end; one that does not is killed."""
    try:
        await asyncio.wait_for(process.wait(), GRACE_S)
    except TimeoutError:
        process.kill()
        await process.wait()


def filesystem_of(folder: Path) -> str:
    """The kind of disk a folder is on: on a tmpfs syncing costs nothing and means nothing."""
    best, kind = "", "unknown"
    where = os.path.realpath(folder)
    for row in Path("/proc/mounts").read_text().splitlines():
        _, point, type_, *_ = row.split()
        inside = where == point or where.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, type_
    return kind
