"""The line a person is typing: keys in, text and cursor out. Pure; it draws nothing itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from flybridge.cli.chat.keys import Key
from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.safe_text import visible

MAX_TEXT = 1 << 20
WINDOW = 2000  # characters either side of the cursor that are drawn


class Layout(msgspec.Struct, frozen=True):
    """The rows to draw, and where among them the cursor is."""

    rows: list[str]
    row: int
    column: int


class LineEditor:
    """One line, or several: the keys are those of readline; ``enter`` hands the text over."""

    def __init__(self, history: Sequence[str] = ()) -> None:
        self.text = ""
        self.cursor = 0
        self.history = list(history)
        self._at = len(self.history)  # where in the history we are; its length: not in it
        self._draft = ""
        self._killed = ""
        self._does: dict[str, Callable[[], object]] = {
            "newline": lambda: self.insert("\n"),
            "tab": lambda: self.insert("\t"),
            "backspace": lambda: self._remove(self.cursor - 1, self.cursor),
            "delete": lambda: self._remove(self.cursor, self.cursor + 1),
            "ctrl-d": lambda: self._remove(self.cursor, self.cursor + 1),
            "left": lambda: self._move(self.cursor - 1),
            "right": lambda: self._move(self.cursor + 1),
            "home": lambda: self._move(self._line_start()),
            "end": lambda: self._move(self._line_end()),
            "word-left": lambda: self._move(self._word_left()),
            "word-right": lambda: self._move(self._word_right()),
            "kill-end": lambda: self._kill(self.cursor, self._line_end()),
            "kill-start": lambda: self._kill(self._line_start(), self.cursor),
            "kill-word": lambda: self._kill(self._word_left(), self.cursor),
            "kill-word-right": lambda: self._kill(self.cursor, self._word_right()),
            "yank": lambda: self.insert(self._killed),
            "up": self._up,
            "down": self._down,
        }

    def press(self, key: Key) -> str | None:
        """Take a key; the finished text if it was the one that finishes it."""
        if key.name == "enter":
            return self._enter()
        if key.name in ("char", "paste"):
            self.insert(key.text)
        elif key.name in self._does:
            self._does[key.name]()
        return None

    def insert(self, text: str) -> None:
        text = text[: max(MAX_TEXT - len(self.text), 0)]
        self.text = self.text[: self.cursor] + text + self.text[self.cursor :]
        self.cursor += len(text)

    def set(self, text: str) -> None:
        self.text = text[:MAX_TEXT]
        self.cursor = len(self.text)

    def remember(self, line: str) -> None:
        """Put a line at the end of the history, unless it is there."""
        if line.strip() and self.history[-1:] != [line]:
            self.history.append(line)
        self._at = len(self.history)

    def layout(self, label: str, width: int, max_rows: int) -> Layout:
        """Draw: ``label`` before the first row, as many blanks before the others."""
        start = max(self.cursor - WINDOW, 0)
        shown = self.text[start : self.cursor + WINDOW]
        indent = cells(label)
        rows, row, column = [""], 0, 0
        for index, char in enumerate(shown + " "):  # the blank: where the cursor is at the end
            safe = visible(char)
            if index == self.cursor - start:
                row, column = len(rows) - 1, cells(rows[-1])
                if column + max(cells(safe.strip("\n")), 1) > width - indent:
                    row, column = row + 1, 0
            if char == "\n":
                rows.append("")
                continue
            if rows[-1] and cells(rows[-1]) + cells(safe) > width - indent:
                rows.append("")
            rows[-1] += safe
        rows[-1] = rows[-1][:-1]
        first = max(0, min(row - max_rows + 1, len(rows) - max_rows))
        first = max(first, row - max_rows + 1)
        gutters = [label if n == 0 else " " * indent for n in range(len(rows))]
        drawn = [g + r for g, r in zip(gutters, rows, strict=True)][first : first + max_rows]
        return Layout(drawn, row - first, indent + column)

    # ---- what the keys do ----------------------------------------------------------------------

    def _enter(self) -> str | None:
        if self.text[: self.cursor].endswith("\\") and self.cursor == len(self.text):
            self.text = self.text[:-1] + "\n"  # as in a shell: the line goes on
            self.cursor = len(self.text)
            return None
        text = self.text
        self.set("")
        self._at = len(self.history)
        return text

    def _move(self, to: int) -> None:
        self.cursor = max(0, min(to, len(self.text)))

    def _remove(self, start: int, end: int) -> str:
        start, end = max(start, 0), min(end, len(self.text))
        gone = self.text[start:end]
        self.text = self.text[:start] + self.text[end:]
        self.cursor = start if start < self.cursor else self.cursor
        return gone

    def _kill(self, start: int, end: int) -> None:
        self._killed = self._remove(start, end) or self._killed

    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.cursor) + 1

    def _line_end(self) -> int:
        end = self.text.find("\n", self.cursor)
        return len(self.text) if end < 0 else end

    def _word_left(self) -> int:
        found = re.search(r"\S+\s*\Z", self.text[: self.cursor])
        return found.start() if found else 0

    def _word_right(self) -> int:
        found = re.match(r"\s*\S+", self.text[self.cursor :])
        return self.cursor + found.end() if found else len(self.text)

    def _up(self) -> None:
        if "\n" in self.text[: self.cursor]:
            self._to_line(-1)
        elif self._at > 0:
            if self._at == len(self.history):
                self._draft = self.text
            self._at -= 1
            self.set(self.history[self._at])

    def _down(self) -> None:
        if "\n" in self.text[self.cursor :]:
            self._to_line(1)
        elif self._at < len(self.history):
            self._at += 1
            in_history = self._at < len(self.history)
            self.set(self.history[self._at] if in_history else self._draft)

    def _to_line(self, step: int) -> None:
        column = self.cursor - self._line_start()
        self.cursor = self._line_start() - 1 if step < 0 else self._line_end() + 1
        self.cursor = min(self._line_start() + column, self._line_end())
