"""Bold, italic and code inside a line of Markdown: looks only, every character stays.

A row is looked at by itself, with what the row before left open, because a finished row is
never written again. What opens in a full row and does not close there is taken to close in
the next one; in the last row of a line it was no mark at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from flybridge.cli.rendering.styles import BOLD, CYAN, DIM, ITALIC

Piece: TypeAlias = tuple[str, str]  # text, and its colours as SGR numbers
# No underscores: in what agents write, they are parts of names far more often.
MARKS = {"**": BOLD, "*": ITALIC}
MAX_ROW = 2000  # nobody has a longer row; looking at one takes the square of its length

_code = re.compile(r"(?<!`)(`{1,3})(?!`)(.+?)(?<!`)\1(?!`)")
_strong = re.compile(r"(?<![\w*])(\*\*)(?=[^\s*])(.+?)(?<=[^\s])\*\*(?![\w*])")
_soft = re.compile(r"(?<![\w*])(\*)(?=[^\s*])([^*]+?)(?<=[^\s])\*(?![\w*])")
_spans = (_code, _strong, _soft)
_opened = re.compile(r"(?<!`)(`)(?!`)(?=\S)|(?<![\w*])(\*\*)(?=[^\s*])")


class Inline(NamedTuple):
    pieces: tuple[Piece, ...]
    left_open: str = ""  # the mark that the next row has to close


def inline(text: str, base: str = "", *, opened: str = "", full: bool = False) -> Inline:
    """Cut a row into pieces; ``opened`` as the row before left it, ``full``: another follows."""
    if len(text) > MAX_ROW:
        return Inline(((text, base),))
    pieces: list[Piece] = []
    at, left_open = 0, ""
    if opened:
        end = text.find(opened)
        if end < 0 and full:
            return Inline(((text, _with(base, _look(opened))),), opened)
        if end >= 0:
            pieces = [(text[:end], _with(base, _look(opened))), (opened, DIM)]
            at = end + len(opened)
    while first := _first(text, at):
        pieces += [(text[at : first.start()], base), *_inside(first, base)]
        at = first.end()
    mark = _opened.search(text, at) if full else None
    if mark is None:
        pieces.append((text[at:], base))
    else:
        left_open = mark[0]
        inside = (text[mark.end() :], _with(base, _look(left_open)))
        pieces += [(text[at : mark.start()], base), (left_open, DIM), inside]
    return Inline(tuple(piece for piece in pieces if piece[0]), left_open)


def _first(text: str, at: int) -> re.Match[str] | None:
    """The span that begins first; of those that begin together, code and then bold."""
    found = [match for match in (one.search(text, at) for one in _spans) if match]
    return min(found, key=re.Match.start, default=None)


def _inside(match: re.Match[str], base: str) -> list[Piece]:
    mark, inner = match[1], match[2]
    look = _with(base, _look(mark))
    if mark.startswith("`"):
        return [(mark, DIM), (inner, look), (mark, DIM)]
    return [(mark, DIM), *inline(inner, look).pieces, (mark, DIM)]


def _look(mark: str) -> str:
    return CYAN if mark.startswith("`") else MARKS[mark]


def _with(base: str, more: str) -> str:
    return f"{base};{more}" if base else more
