"""Writing to the terminal: what was said scrolls away above, what is being typed stays below.

Only this module writes escape codes. Rows never reach the last column, and lines do not wrap
while they are written: whatever a terminal thinks of a character's width, nothing but our own
marks gets into the first column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.rows import Row, RowBuilder
from flybridge.cli.rendering.safe_text import visible
from flybridge.cli.rendering.styles import ASCII, STYLES, coloured

NO_WRAP, WRAP = "\x1b[?7l", "\x1b[?7h"
ERASE_BELOW = "\x1b[J"
CLEAR = "\x1b[H\x1b[2J"
BELL = "\a"


class Paper(Protocol):
    """Where a conversation is written."""

    def write(self, text: str, style: str) -> None:
        """Go on in this style; another style begins a new row."""

    def line(self, text: str, style: str) -> None:
        """A row, or several, of its own."""

    def gap(self) -> None:
        """Leave one empty row between what was and what comes."""


class LivePaper(Paper, Protocol):
    """Where a conversation is written while it goes on."""

    def aside(self, text: str, style: str) -> None:
        """A row, or several, in the middle of what is being written; that goes on after it."""


class Footer(msgspec.Struct, frozen=True):
    """What stays below: rows by style, and where the cursor is among them."""

    rows: list[tuple[str, str]]  # style, text; the style's first mark goes before it
    row: int = 0
    column: int = 0


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What this terminal can show."""

    colour: bool = True
    unicode: bool = True

    def row(self, row: Row) -> str:
        mark = row.mark if row.text else row.mark.rstrip()
        said = row.pieces if self.colour and row.pieces else ((row.text, row.style.text),)
        return self.text(mark, row.style.mark) + "".join(self.text(*piece) for piece in said)

    def text(self, text: str, codes: str = "") -> str:
        return coloured(text if self.unicode else text.translate(ASCII), codes, colour=self.colour)


class Screen:
    """A terminal that can move its cursor. :meth:`flush` writes everything in one go."""

    def __init__(
        self,
        out: Callable[[str], None],
        size: Callable[[], tuple[int, int]],
        *,
        look: Look,
        footer: Callable[[int, int], Footer],
    ) -> None:
        self._out = out
        self._size = size
        self._look = look
        self._footer = footer
        self._rows = RowBuilder()
        self._above: list[int] = []  # widths of our rows above the cursor, erased next time
        self._bell = False

    def write(self, text: str, style: str) -> None:
        self._rows.width = self._size()[0] - 1
        self._rows.write(text, style)

    def line(self, text: str, style: str) -> None:
        self._rows.width = self._size()[0] - 1
        self._rows.line(text, style)

    def aside(self, text: str, style: str) -> None:
        self._rows.width = self._size()[0] - 1
        self._rows.aside(text, style)

    def gap(self) -> None:
        self._rows.gap()

    def ring(self) -> None:
        self._bell = True

    def flush(self) -> None:
        """Write what is new, and the footer below it."""
        columns, lines = self._size()
        out = [self._erase(columns), NO_WRAP]
        out += [self._look.row(row) + "\r\n" for row in self._rows.take()]
        tail = self._rows.tail
        footer = self._footer(columns - 1, lines)
        drawn = [self._look.row(tail)] if tail else []
        widths = [cells(tail.mark + tail.text)] if tail else []
        for style, said in footer.rows:
            look, text = STYLES[style], visible(said)
            drawn.append(self._look.text(look.first, look.mark) + self._look.text(text, look.text))
            widths.append(cells(look.first + text))
        row = footer.row + (1 if tail else 0)
        out.append("\r\n".join(drawn))
        out.append(_up(len(drawn) - 1 - row) + "\r" + _right(footer.column))
        self._above = widths[:row]
        out.append(WRAP + (BELL if self._bell else ""))
        self._bell = False
        self._out("".join(out))

    def clear(self) -> None:
        """An empty screen with the footer at the top."""
        self._above = []
        self._out(CLEAR)
        self.flush()

    def leave(self) -> None:
        """Take the footer away and go to a new row; :meth:`flush` brings it back."""
        columns, _ = self._size()
        self._rows.fresh()
        rows = [self._look.row(row) + "\r\n" for row in self._rows.take()]
        self._out(self._erase(columns) + NO_WRAP + "".join(rows) + WRAP)
        self._above = []

    def _erase(self, columns: int) -> str:
        """Back to our first row; one that became too long for the terminal takes several."""
        up = sum(max(1, -(-width // columns)) for width in self._above)
        return "\r" + _up(up) + ERASE_BELOW


class Plain:
    """Anything else: a pipe, a file, a terminal that cannot move its cursor.

    Text is written as it comes. ``width`` cuts rows (a terminal would wrap them into the
    first column); ``marks`` off leaves the text alone.
    """

    def __init__(
        self,
        out: Callable[[str], None],
        *,
        look: Look,
        width: int | None = None,
        marks: bool = True,
    ) -> None:
        self._out = out
        self._look = look
        self._marks = marks
        self._rows = RowBuilder(width, words=False)
        self._written = -1  # characters of the growing row that are out; -1: not even its mark

    def write(self, text: str, style: str) -> None:
        self._rows.write(text, style)
        self._emit()

    def line(self, text: str, style: str) -> None:
        self._rows.line(text, style)
        self._emit()

    def aside(self, text: str, style: str) -> None:
        self.line(text, style)  # half of the row is out already

    def gap(self) -> None:
        self._rows.gap()
        self._emit()

    def fresh(self) -> None:
        self._rows.fresh()
        self._emit()

    def _emit(self) -> None:
        for row in self._rows.take():
            self._more(row)
            self._out("\n")
            self._written = -1
        tail = self._rows.tail
        if tail is not None:
            self._more(tail)

    def _more(self, row: Row) -> None:
        if self._written < 0:
            mark = row.mark if row.text else row.mark.rstrip()
            self._out(self._look.text(mark, row.style.mark) if self._marks else "")
            self._written = 0
        new = row.text[self._written :]
        if new:
            self._out(self._look.text(new, row.style.text))
            self._written = len(row.text)


def _up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows > 0 else ""


def _right(columns: int) -> str:
    return f"\x1b[{columns}C" if columns > 0 else ""
