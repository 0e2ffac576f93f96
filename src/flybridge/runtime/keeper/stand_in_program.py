# ruff: noqa: PTH123
"""Stands in, under a keeper, for an agent that a person started by hand.

Run by path as ``python -I -S stand_in_program.py``, standard library only. It reads one line,
``PID START``: the process that connected to us, with its start time. It repeats that line on
stdout, where the keeper keeps it for the next gateway, and ends when that process does: so the
end of a process that is not ours is still heard of. Told to end (TERM, or the end of its input)
it ends that process, politely and then not.

It ends with 3 when no line comes in time, and with 4 when there is no such process.
"""

from __future__ import annotations

import os
import select
import signal
import sys

WAIT_S = 900.0
GRACE_S = 3.0
LINE_BYTES = 64
NOBODY, NO_PROCESS = 3, 4


def start_of(pid: int) -> str:
    """When a process started, as the kernel counts; nothing where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read(4096).rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


def read_line(wake: int, wait_s: float) -> list[str] | None:
    """The words of the first line; None when it does not come, or somebody wants us gone."""
    line = b""
    while not line.endswith(b"\n") and len(line) < LINE_BYTES:
        ready, _, _ = select.select([0, wake], [], [], wait_s)
        if 0 not in ready:
            return None
        piece = os.read(0, 1)
        if not piece:
            return None
        line += piece
    return line.decode("ascii", "replace").split()


def watch(pidfd: int, wake: int) -> None:
    """Return when the process is gone; end it when we are to end."""
    patience: float | None = None
    signals = iter((signal.SIGTERM, signal.SIGKILL))
    files = [pidfd, wake, 0]
    while True:
        ready, _, _ = select.select(files, [], [], patience)
        if pidfd in ready:
            return
        if 0 in ready and os.read(0, LINE_BYTES):
            continue  # nobody has anything more to say here
        files = [pidfd]
        patience = GRACE_S
        try:
            signal.pidfd_send_signal(pidfd, next(signals))
        except (OSError, StopIteration):
            return


def main(wait_s: float = WAIT_S) -> int:
    wake, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGTERM, lambda *_: None)
    words = read_line(wake, wait_s)
    if words is None:
        os.write(2, b"nobody connected\n")
        return NOBODY
    try:
        pid, start = int(words[0]), words[1]
        pidfd = os.pidfd_open(pid)
    except (ValueError, IndexError, OSError):
        return NO_PROCESS
    if start_of(pid) != start:
        return NO_PROCESS
    os.write(1, f"{pid} {start}\n".encode())
    watch(pidfd, wake)
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else WAIT_S))
