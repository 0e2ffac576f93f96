"""What ``/proc`` tells of a process: whether it ended, and how much memory it holds."""

from __future__ import annotations

from pathlib import Path

from flybridge.runtime.keeper.process import alive, start_time


def is_gone(pid: int) -> bool:
    """Return whether the process ended, reaped or not."""
    start = start_time(pid)
    return start is None or not alive(pid, start)


def rss_kib(pid: int) -> int:
    """Return how much memory the process holds."""
    return _status_kib(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the most memory that the process ever held."""
    return _status_kib(pid, "VmHWM") * 1024


def _status_kib(pid: int, name: str) -> int:
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith(f"{name}:"))
