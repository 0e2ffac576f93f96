from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.inline import MAX_ROW, Inline, inline
from flybridge.cli.rendering.styles import BOLD, CYAN, DIM, ITALIC


def looks(text: str) -> list[tuple[str, str]]:
    """The pieces that look like something."""
    return [piece for piece in inline(text).pieces if piece[1] not in ("", DIM)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain", []),
        ("a **b c** d", [("b c", BOLD)]),
        ("a *b* d", [("b", ITALIC)]),
        ("a `b c` d", [("b c", CYAN)]),
        ("`**no**` **`yes`**", [("**no**", CYAN), ("yes", f"{BOLD};{CYAN}")]),
        ("**bold *both* bold**", [("bold ", BOLD), ("both", f"{BOLD};{ITALIC}"), (" bold", BOLD)]),
        ("``a ` b``", [("a ` b", CYAN)]),
        ("2*3*4 and 2 * 3 * 4", []),
        ("f(*args, **kwargs)", []),
        ("snake_case_name and __init__", []),
        ("**not closed", []),
        ("a `not closed", []),
        ("* a point", []),
    ],
)
def test_marks_make_looks(text: str, found: list[tuple[str, str]]) -> None:
    assert looks(text) == found


def test_what_looks_different_already_keeps_its_look() -> None:
    assert inline("a **b**", "2").pieces[:3] == (("a ", "2"), ("**", DIM), ("b", f"2;{BOLD}"))


def test_a_full_row_hands_on_what_is_open() -> None:
    first = inline("say **very", full=True)
    assert first == Inline((("say ", ""), ("**", DIM), ("very", BOLD)), "**")
    middle = inline("very", opened="**", full=True)
    assert middle == Inline((("very", BOLD),), "**")
    last = inline("loud** now", opened="**")
    assert last == Inline((("loud", BOLD), ("**", DIM), (" now", "")))


def test_what_never_closes_was_no_mark() -> None:
    assert inline("to the end", opened="`") == Inline((("to the end", ""),))


def test_a_row_nobody_has_is_left_alone() -> None:
    text = "**a** " * MAX_ROW
    assert inline(text).pieces == ((text, ""),)


@given(st.text("a *`_", max_size=60), st.sampled_from(["", "**", "`"]), st.booleans())
def test_no_character_is_lost(text: str, opened: str, full: bool) -> None:
    assert "".join(piece for piece, _ in inline(text, opened=opened, full=full).pieces) == text
