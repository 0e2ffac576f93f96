from __future__ import annotations

import pytest

from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.styles import ASCII, STYLES, coloured

AGENTS = (
    *("text", "heading", "code", "fence", "quote"),
    *("result", "failed", "diff", "added", "removed", "sub_text", "sub_tool"),
)


@pytest.mark.parametrize("name", AGENTS)
def test_text_of_an_agent_never_begins_in_the_first_column(name: str) -> None:
    assert STYLES[name].first.startswith("  ")
    assert STYLES[name].rest.startswith("  ")


def test_only_boxes_have_the_frame() -> None:
    framed = {name for name, one in STYLES.items() if set("┏┃┗") & set(one.first + one.rest)}
    assert framed == {"box_top", "box", "box_added", "box_removed", "box_note", "box_end"}
    assert all(STYLES[name].strict for name in framed)


@pytest.mark.parametrize("name", STYLES)
def test_every_mark_has_an_ascii_form_of_the_same_width(name: str) -> None:
    for mark in (STYLES[name].first, STYLES[name].rest):
        plain = mark.translate(ASCII)
        assert plain.isascii()
        assert cells(plain) == cells(mark)


def test_colours_are_only_where_they_are_wanted() -> None:
    assert coloured("x", "31", colour=True) == "\x1b[31mx\x1b[0m"
    assert coloured("x", "31", colour=False) == "x"
    assert coloured("", "31", colour=True) == ""
