"""Kills a gateway at a chosen system call, by strace.

strace is attached to a gateway that is idle, so that its counting begins where the operation
does; and to one kind of thread at a time, because it counts for each thread on its own. The
signal is sent when the call is entered: everything before it has happened, it has not.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal["loop", "barrier"]
ATTACH_S = 60.0
NO_CALL = ("+++", "---", "<...", "exit")


class Point(NamedTuple):
    """The ``nth`` time that this thread enters this call after strace was attached."""

    role: Role
    call: str
    nth: int


class Tracer:
    """strace on a running gateway; a context that detaches at its end."""

    def __init__(self, pid: int, *, to: Path, at: Point | None = None) -> None:
        threads = _others(pid) if at is not None and at.role == "barrier" else [pid]
        argv = ["strace", "-s", "5000", "-o", str(to)]
        argv += [f"--attach={thread}" for thread in threads]
        if at is None:
            argv += ["-f"]
        else:
            argv += ["-e", f"trace={at.call}", "-e", f"inject={at.call}:signal=KILL:when={at.nth}"]
        self._attached = len(threads)
        self._strace = subprocess.Popen(argv, stderr=subprocess.PIPE)

    def __enter__(self) -> Tracer:
        assert self._strace.stderr is not None
        for _ in range(self._attached):  # says so once for every --attach
            line = self._strace.stderr.readline()
            assert b"attached" in line, f"strace: {line.decode()}"
        return self

    def __exit__(self, *_: object) -> None:
        self._strace.terminate()
        self._strace.communicate(timeout=ATTACH_S)


def points_between(trace: Path, pid: int, begin: str, end: str) -> list[Point]:
    """Every call between the line with ``begin`` and the one with ``end``, that one included."""
    counted: Counter[tuple[str, str]] = Counter()
    points: list[Point] = []
    inside = False
    for line in trace.read_text(errors="replace").splitlines():
        thread, _, rest = line.partition(" ")
        rest = rest.lstrip()
        if not rest.startswith(NO_CALL):
            call = rest.partition("(")[0]
            counted[thread, call] += 1
            if inside:
                role: Role = "loop" if int(thread) == pid else "barrier"
                points.append(Point(role, call, counted[thread, call]))
        if inside and end in rest:
            return points
        inside = inside or begin in rest
    raise AssertionError(f"{end!r} does not follow {begin!r} in the trace")


def _others(pid: int) -> list[int]:
    return [int(name) for name in os.listdir(f"/proc/{pid}/task") if int(name) != pid]  # noqa: PTH208
