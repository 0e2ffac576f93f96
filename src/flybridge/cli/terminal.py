"""The terminal's modes: taken for as long as a chat lasts, and given back on every way out."""

from __future__ import annotations

import os
import select
import termios
from typing import Any

PASTE_ON, PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
AS_IT_WAS = "\x1b[0m\x1b[?7h\x1b[?25h"  # no style, lines wrap, the cursor is seen
COLUMNS, LINES = 80, 24
LEAST_COLUMNS, LEAST_LINES = 20, 5


class TerminalModes:
    """Keys as they come, without echo. :meth:`leave` may be called at any time, twice too."""

    def __init__(self, fd: int, out: int) -> None:
        self._fd = fd
        self._out = out
        self._saved: list[Any] | None = None

    def enter(self) -> None:
        if self._saved is None:
            self._saved = termios.tcgetattr(self._fd)
        modes = termios.tcgetattr(self._fd)
        modes[0] &= ~termios.ICRNL  # Enter and Ctrl-J are two keys
        modes[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
        controls = list(modes[6])
        controls[termios.VMIN], controls[termios.VTIME] = 1, 0
        # Ctrl-C is a key, in order with the others
        controls[termios.VINTR] = bytes([os.fpathconf(self._fd, "PC_VDISABLE")])
        modes[6] = controls
        termios.tcsetattr(self._fd, termios.TCSADRAIN, modes)
        write_all(self._out, PASTE_ON.encode())

    def leave(self) -> None:
        """Give the terminal back. Never raises: it may be gone."""
        saved, self._saved = self._saved, None
        if saved is None:
            return
        try:
            termios.tcsetattr(self._fd, termios.TCSANOW, saved)
            write_all(self._out, (PASTE_OFF + AS_IT_WAS).encode())
        except (OSError, termios.error):
            pass


def write_all(fd: int, data: bytes) -> None:
    """Write everything, also to a descriptor that somebody else made non-blocking."""
    while data:
        try:
            data = data[os.write(fd, data) :]
        except BlockingIOError:
            select.select([], [fd], [], 1.0)


def size_of(fd: int) -> tuple[int, int]:
    """Columns and lines, whatever the terminal says of itself."""
    try:
        columns, lines = os.get_terminal_size(fd)
    except OSError:
        columns, lines = 0, 0
    return (
        max(columns or COLUMNS, LEAST_COLUMNS),
        max(lines or LINES, LEAST_LINES),
    )
