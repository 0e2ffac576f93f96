"""From a stream of styled text to rows: finished ones, and the one that still grows."""

from __future__ import annotations

import msgspec

from flybridge.cli.rendering.columns import cells, split_row
from flybridge.cli.rendering.inline import Inline, Piece, inline
from flybridge.cli.rendering.markdown import MAX_TABLE_ROWS, Markdown, Shape, table_rows
from flybridge.cli.rendering.safe_text import visible
from flybridge.cli.rendering.styles import PLAIN, STYLES, Style

SPOKEN = (STYLES["text"], STYLES["heading"], STYLES["quote"])


class Row(msgspec.Struct, frozen=True):
    """``pieces`` are the text again, where parts of it look different."""

    mark: str
    text: str
    style: Style
    pieces: tuple[Piece, ...] = ()


class RowBuilder:
    """Everything that is shown goes through here, and is made harmless here.

    ``words`` off: text is written as it comes, so nothing may be moved once it is there; on:
    rows are broken between words, and what an agent says is laid out as Markdown.
    """

    def __init__(self, width: int | None = None, *, words: bool = True) -> None:
        self.width = width  # None: rows are as long as their lines
        self._words = words
        self._style = PLAIN
        self._text = ""
        self._held = ""  # a carriage return that may be half of a line's end
        self._open = False
        self._first = True
        self._blank = True  # nothing yet, or an empty row was last
        self._done: list[Row] = []
        self._markdown = Markdown()
        self._shape: Shape | None = None  # of the growing line, once a row of it is finished
        self._opened = ""  # bold or code that goes on in the next row of the line
        self._table: list[str] = []  # finished lines that wait for the end of their table

    def write(self, text: str, style: str) -> None:
        """Go on in this style; another style begins a new row."""
        if STYLES[style] is not self._style:
            self.fresh()
            self._style = STYLES[style]
        text, self._held = self._held + text, ""
        if text.endswith("\r"):
            text, self._held = text[:-1], "\r"
        if not text:
            return
        *lines, rest = (self._text + visible(text, strict=self._style.strict)).split("\n")
        for line in lines:
            self._finish(line)
        self._text = rest
        self._open = bool(rest)
        self._overflow()
        if self._table and rest.strip(" ") and not self._markdown.is_table_row(rest):
            self._end_table()

    def line(self, text: str, style: str) -> None:
        """A row, or several, of its own."""
        self.fresh()
        self._style = STYLES[style]
        self.write(text, style)
        if not text:
            self._finish("")
        self.fresh()

    def aside(self, text: str, style: str) -> None:
        """Rows of their own before the row that still grows, which goes on as if nothing was."""
        if not self._open and not self._table:
            self.line(text, style)
            return
        between = RowBuilder(self.width, words=self._words)
        between.line(text, style)
        self._done += between.take()

    def fresh(self) -> None:
        """End the row that still grows; what follows is marked as a beginning."""
        if self._held:
            self._text, self._held = self._text + "^M", ""
        if self._open:
            self._finish(self._text)
            self._text, self._open = "", False
        self._end_table()
        self._markdown = Markdown()
        self._opened = ""
        self._first = True

    def gap(self) -> None:
        """Leave one empty row between what was and what comes."""
        self.fresh()
        if not self._blank:
            self._done.append(Row("", "", PLAIN))
            self._blank = True

    def take(self) -> list[Row]:
        """The rows finished since the last call."""
        done, self._done = self._done, []
        return done

    @property
    def tail(self) -> Row | None:
        """The row that still grows."""
        if not self._open:
            return None
        style = (self._shape or self._shaped(self._text)).style
        return Row(self._mark(style), self._text, style, self._inline(self._text, style).pieces)

    def _mark(self, style: Style) -> str:
        return style.first if self._first else style.rest

    @property
    def _is_rich(self) -> bool:
        return self._words and self._style is PLAIN

    def _shaped(self, line: str) -> Shape:
        if self._is_rich:
            return self._markdown.shape(line)
        return Shape(self._style, words=self._words and not self._style.strict)

    def _finish(self, line: str) -> None:
        self._text = line
        self._overflow()
        if self._is_rich and self._shape is None and self._markdown.is_table_row(line):
            self._hold(line)
        else:
            self._end_table()
            shape = self._shape or self._shaped(line)
            self._push(self._text, shape.style, full=False)
            self._markdown.passed(shape)
        self._text = ""
        self._shape = None

    def _overflow(self) -> None:
        """Finish the rows that are full."""
        if self.width is None:
            return
        while True:  # the mark of the second row may be of another width than that of the first
            mark = self._markdown.base if self._is_rich else self._style
            room = max(self.width - cells(self._mark(mark)), 4)
            full = split_row(self._text, room, words=False)
            if full is None:
                return
            # decided by what had to be there for the row to be full, and by nothing more
            shape = self._shape or self._shaped(full[0] + full[1][:1])
            found = split_row(self._text, room, words=shape.words) or full
            self._end_table(fits=not self._markdown.is_table_row(self._text))
            self._push(found[0], shape.style)
            self._shape = shape
            self._text = " " * min(shape.hang, room // 2) + found[1]

    def _push(self, text: str, style: Style, *, full: bool = True) -> None:
        looks = self._inline(text, style, full=full)
        self._opened = looks.left_open if full else ""
        self._done.append(Row(self._mark(style), text, style, looks.pieces))
        self._first = False
        self._blank = not text

    def _inline(self, text: str, style: Style, *, full: bool = True) -> Inline:
        if not self._is_rich or style not in SPOKEN:
            return Inline(())
        looks = inline(text, style.text, opened=self._opened, full=full)
        return looks if len(looks.pieces) > 1 or looks.left_open else Inline(())

    def _hold(self, line: str) -> None:
        self._table.append(line)
        if len(self._table) >= MAX_TABLE_ROWS:
            self._end_table()

    def _end_table(self, *, fits: bool = True) -> None:
        """Write the lines that waited; ``fits`` off: one that is too long for columns follows."""
        lines, self._table = self._table, []
        if not lines:
            return
        room = None if self.width is None else self.width - cells(PLAIN.first)
        rows = table_rows(lines, room) if fits else None
        for style, text in rows or [(PLAIN, line) for line in lines]:
            self._push(text, style, full=False)
