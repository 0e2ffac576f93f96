"""Markdown as rows of a terminal: which look a line has, and tables in columns.

Only looks and spaces change: every character of the text stays, so what is shown can be copied.
What a line is follows from its beginning alone, so text that still arrives is never restyled
in its finished rows. A table is the exception: its rows wait until it is complete.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.styles import STYLES, Style

MAX_TABLE_ROWS = 200
MAX_COLUMNS = 30

_fence = re.compile(r" {0,3}(`{3,}|~{3,})(?!.*`)")
_heading = re.compile(r" {0,3}#{1,6}(\s|$)")
_item = re.compile(r" *([-*+]|\d{1,3}[.)]) +")
_quote = re.compile(r" {0,3}> ?")
_rule = re.compile(r" {0,3}([-*_])( *\1){2,} *$")
_lead = re.compile(" *")
_delimiter = re.compile(r":?-+:?")
_bar = re.compile(r"(?<!\\)\|")


class Shape(NamedTuple):
    """How a line looks. ``hang``: columns its further rows are indented by."""

    style: Style
    hang: int = 0
    words: bool = True  # may be broken between words
    fence: str | None = None  # the state after this line, if it changes


class Markdown:
    """Follows the lines of one text; ``fence`` is what closes the code they are in."""

    def __init__(self) -> None:
        self.fence = ""

    @property
    def base(self) -> Style:
        """The look whose mark every line has here."""
        return STYLES["code"] if self.fence else STYLES["text"]

    def shape(self, line: str) -> Shape:
        """The look of a line, of which only the beginning may be known."""
        if self.fence:
            return self._in_code(line)
        if found := _fence.match(line):
            return Shape(STYLES["fence"], fence=found[1])
        if _heading.match(line):
            return Shape(STYLES["heading"])
        if _rule.match(line):
            return Shape(STYLES["fence"])
        if found := _item.match(line):
            return Shape(STYLES["text"], hang=found.end())
        if found := _quote.match(line):
            return Shape(STYLES["quote"], hang=found.end())
        lead = _lead.match(line)
        return Shape(STYLES["text"], hang=lead.end() if lead else 0)

    def _in_code(self, line: str) -> Shape:
        mark = line.strip()
        closes = len(mark) >= len(self.fence) and not mark.strip(self.fence[0])
        if closes and mark:
            return Shape(STYLES["fence"], fence="")
        return Shape(STYLES["code"], words=False)

    def passed(self, shape: Shape) -> None:
        """A line of this shape is complete."""
        if shape.fence is not None:
            self.fence = shape.fence

    def is_table_row(self, line: str) -> bool:
        return not self.fence and line.lstrip(" ").startswith("|")


def table_rows(lines: Sequence[str], width: int | None) -> list[tuple[Style, str]] | None:
    """A table in columns, or None if it is none or does not fit: then it stays as it was."""
    parts = [_cells(line) for line in lines]
    if len(parts) < 2 or not all(_delimiter.fullmatch(one) for one in parts[1]):
        return None
    count = len(parts[0])
    if not 0 < count <= MAX_COLUMNS or any(len(row) > count for row in parts):
        return None
    rows = [row + [""] * (count - len(row)) for row in (parts[0], *parts[2:])]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    if width is not None and sum(widths) + 2 * (count - 1) > width:
        return None
    sides = [*parts[1], *[""] * (count - len(parts[1]))]
    head, *rest = (_aligned(row, widths, sides) for row in rows)
    rule = "  ".join("─" * one for one in widths)
    return [
        (STYLES["heading"], head),
        (STYLES["fence"], rule),
        *((STYLES["text"], row) for row in rest),
    ]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [one.strip() for one in _bar.split(inner)]


def _aligned(row: Sequence[str], widths: Sequence[int], sides: Sequence[str]) -> str:
    parts = []
    for text, width, side in zip(row, widths, sides, strict=True):
        spare = width - cells(text)
        left = {(True, True): spare // 2, (False, True): spare}
        before = left.get((side.startswith(":"), side.endswith(":")), 0)
        parts.append(" " * before + text + " " * (spare - before))
    return "  ".join(parts).rstrip()
