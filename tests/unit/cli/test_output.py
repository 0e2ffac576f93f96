from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from typing import TextIO

import pytest

from flybridge.cli.output import look_of, plain_paper, writer


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    main, side = pty.openpty()
    with os.fdopen(side, "w", encoding="utf-8") as stream:
        yield stream
    os.close(main)


def test_colours_are_for_terminals_that_have_them(terminal: TextIO) -> None:
    assert look_of(terminal, {"TERM": "xterm"}).colour
    assert not look_of(terminal, {"TERM": "dumb"}).colour
    assert not look_of(terminal, {}).colour
    assert not look_of(terminal, {"TERM": "xterm", "NO_COLOR": "1"}).colour
    assert not look_of(io.TextIOWrapper(io.BytesIO(), "utf-8"), {"TERM": "xterm"}).colour


def test_marks_are_ascii_where_nothing_else_can_be_written() -> None:
    assert look_of(io.TextIOWrapper(io.BytesIO(), "utf-8"), {}).unicode
    assert not look_of(io.TextIOWrapper(io.BytesIO(), "latin-1"), {}).unicode


def test_what_cannot_be_encoded_is_spelled_out() -> None:
    raw = io.BytesIO()
    write = writer(io.TextIOWrapper(raw, "ascii"))
    write("é")
    write("")
    assert raw.getvalue() == b"\\xe9"


def test_paper_on_a_terminal_has_a_width(terminal: TextIO) -> None:
    paper = plain_paper(terminal, marks=True)
    paper.line("x" * 200, "text")  # must not wrap by itself; 80 columns when it has no size
    assert paper._rows.width == 79
