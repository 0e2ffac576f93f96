"""How wide text is on a terminal, and how it is cut into rows."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Sequence


def cells(text: str) -> int:
    """How many columns ``text`` takes; where terminals disagree, the larger number."""
    return len(text) if text.isascii() else sum(map(_cell, text))


@functools.lru_cache(4096)
def _cell(char: str) -> int:
    if char == "\ufe0f":  # makes a picture of the letter before it
        return 1
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _fitting(text: str, width: int) -> int:
    """How many characters fit into ``width`` columns; at least one."""
    if text.isascii():
        return min(len(text), max(width, 1))
    used = 0
    for index, char in enumerate(text):
        used += _cell(char)
        if used > width:
            return max(index, 1)
    return len(text)


def split_row(line: str, width: int, *, words: bool = True) -> tuple[str, str] | None:
    """The first row of a line and the rest of it, or None if it fits into one row.

    Between words if ``words``, else nothing is moved or left out. A row is final: more text
    at the end of the line does not change it.
    """
    fits = _fitting(line, width)
    if len(line) <= fits:
        return None
    space = line.rfind(" ", 0, fits + 1) if words else -1
    if space > 0 and line[:space].strip():
        return line[:space], line[space + 1 :]
    return line[:fits], line[fits:]


def wrap(line: str, width: int, *, words: bool = True) -> list[str]:
    """Cut one line into rows."""
    rows: list[str] = []
    while found := split_row(line, width, words=words):
        rows.append(found[0])
        line = found[1]
    return [*rows, line]


def cut(line: str, width: int) -> str:
    """The beginning of a line, with an ellipsis if that is not all."""
    if cells(line) <= width:
        return line
    return line[: _fitting(line, max(width - 1, 1))] + "…"


def table(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Rows in aligned columns; the widest columns give way until they fit ``width``."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    gaps = 2 * (len(widths) - 1)
    while width is not None and sum(widths) + gaps > width and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1
    return [_aligned(row, widths).rstrip() for row in rows]


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    shown = [cut(text, width) for text, width in zip(row, widths, strict=True)]
    pads = [" " * (width - cells(text)) for text, width in zip(shown, widths, strict=True)]
    return "  ".join(text + pad for text, pad in zip(shown, pads, strict=True))
