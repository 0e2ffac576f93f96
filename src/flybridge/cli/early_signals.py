"""Signals that arrive while the program is still being imported.

A run promises one terminal frame whatever happens, also in the moments before its loop exists.
Importing this module installs handlers that record the signals in ``held``; the command looks
there once its own handlers are installed. Other commands keep Python's behaviour.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PROGRAMS = ("flybridge", "__main__.py")
_COMMANDS = ("adhoc", "run")
held: list[signal.Signals] = []


def install(argv: Sequence[str]) -> bool:
    """Record signals from here on if ``argv`` is a run's; return whether it is."""
    program, command = [*argv, "", ""][:2]
    if program.rpartition("/")[2] not in _PROGRAMS or command not in _COMMANDS:
        return False
    for number in ending():
        signal.signal(number, _hold)
    return True


def ending() -> list[signal.Signals]:
    """Return the signals that end a run: not SIGHUP if it is ignored, as ``nohup`` starts it."""
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return [number for number in ENDING if number != signal.SIGHUP or not ignored]


def _hold(number: int, _: FrameType | None) -> None:
    held.append(signal.Signals(number))


install(sys.argv)
