"""A terminal in memory: what a person would see after the bytes a program wrote.

Knows what our screen uses and no more; anything else fails the test that sent it.
"""

from __future__ import annotations

import re

from flybridge.cli.rendering.screen import Look, Plain

_sequence = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")

NO_COLOUR = Look(colour=False)


class ScreenModel:
    """``text`` is everything from the first row that ever scrolled away to the last."""

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.columns = columns
        self.lines = lines
        self.rows: list[list[str]] = [[]]
        self.row = 0
        self.column = 0
        self.wraps = True
        self.pastes = False
        self.bells = 0
        self.coloured = False
        self._rest = ""

    @property
    def text(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.rows)

    def feed(self, text: str) -> None:
        text = self._rest + text
        self._rest = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
                continue
            found = _sequence.match(text, at)
            if found is None:
                assert len(text) - at < 12, f"unknown: {text[at : at + 12]!r}"
                self._rest = text[at:]
                return
            self._do(*found.groups())
            at = found.end()

    def _put(self, char: str) -> None:
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append([])
        elif char == "\a":
            self.bells += 1
        else:
            assert char >= " ", f"a control character reached the terminal: {char!r}"
            self._write(char)

    def _write(self, char: str) -> None:
        if self.column >= self.columns:
            if self.wraps:
                self.column = 0
                self._put("\n")
            else:
                self.column = self.columns - 1
        row = self.rows[self.row]
        row.extend(" " * (self.column + 1 - len(row)))
        row[self.column] = char
        self.column += 1

    def _do(self, private: str, numbers: str, what: str) -> None:
        count = int(numbers or "1") if numbers.isdecimal() or not numbers else 0
        top = max(0, len(self.rows) - self.lines)
        match private + what, numbers:
            case "A", _:
                self.row = max(self.row - count, top)
            case "C", _:
                self.column = min(self.column + count, self.columns - 1)
            case "J", "":
                del self.rows[self.row + 1 :]
                del self.rows[self.row][self.column :]
            case "J", "2":
                del self.rows[top + 1 :]
                self.rows[top] = []
            case "H", "":
                self.row, self.column = top, 0
            case "m", _:
                self.coloured = self.coloured or numbers != "0"
            case "?h" | "?l", "7":
                self.wraps = what == "h"
            case "?h" | "?l", "2004":
                self.pastes = what == "h"
            case "?h", "25":
                pass
            case _:
                raise AssertionError(f"unknown: ESC [ {private}{numbers}{what}")


class Sheet(Plain):
    """Paper in memory: what a terminal without a screen would print."""

    def __init__(
        self, *, width: int | None = None, marks: bool = True, look: Look = NO_COLOUR
    ) -> None:
        self._said: list[str] = []
        super().__init__(self._said.append, look=look, width=width, marks=marks)

    @property
    def text(self) -> str:
        """Everything written so far."""
        return "".join(self._said)
