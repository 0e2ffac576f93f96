from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.markdown import Markdown, table_rows
from flybridge.cli.rendering.styles import STYLES

awkward = st.text("ab |-:`\\~#\u4e00", max_size=12)


@pytest.mark.parametrize(
    ("line", "style", "hang"),
    [
        ("plain", "text", 0),
        ("# Title", "heading", 0),
        ("###### Deep", "heading", 0),
        ("####### too deep", "text", 0),
        ("#hashtag", "text", 0),
        ("- point", "text", 2),
        ("  * inside", "text", 4),
        ("12. twelfth", "text", 4),
        ("-dash", "text", 0),
        ("1999 was a year", "text", 0),
        ("> said", "quote", 2),
        ("---", "fence", 0),
        ("* * *", "fence", 0),
        ("```python", "fence", 0),
        ("~~~", "fence", 0),
        ("``` in `one` line", "text", 0),
        ("    indented", "text", 4),
        ("", "text", 0),
    ],
)
def test_a_line_is_known_by_its_beginning(line: str, style: str, hang: int) -> None:
    shape = Markdown().shape(line)
    assert (shape.style, shape.hang) == (STYLES[style], hang)


def test_code_ends_where_its_own_fence_does() -> None:
    text = Markdown()
    styles = []
    for line in ("````", "```", "# no title", "  ", "`````", "# title"):
        shape = text.shape(line)
        styles.append(shape.style)
        text.passed(shape)
    names = ["fence", "code", "code", "code", "fence", "heading"]
    assert styles == [STYLES[name] for name in names]


def test_code_is_not_broken_between_words() -> None:
    text = Markdown()
    text.passed(text.shape("```"))
    assert text.base is STYLES["code"]
    assert not text.shape("a  b").words
    assert not text.is_table_row("| a |")


def test_a_table_is_aligned_as_it_asks_for() -> None:
    rows = table_rows(["| a | b | c |", "|:--|--:|:-:|", "| x | 22 | yyy |", "| long |"], 40)
    assert rows is not None
    assert [text for _, text in rows] == ["a      b   c", "────  ──  ───", "x     22  yyy", "long"]
    assert [style for style, _ in rows[:2]] == [STYLES["heading"], STYLES["fence"]]


@pytest.mark.parametrize(
    "lines",
    [
        ["| a |"],
        ["| a |", "| b |"],
        ["| a |", "|---|", "| b | too many |"],
        ["| a | b |", "|---|---|", "| " + "x" * 40 + " | y |"],
        ["|" * 50, "|-" * 50],
    ],
)
def test_what_is_no_table_or_too_wide_is_not_touched(lines: list[str]) -> None:
    assert table_rows(lines, 20) is None


def test_a_bar_with_a_backslash_is_a_letter() -> None:
    rows = table_rows([r"| a \| b | c |", "|---|---|"], 40)
    assert rows is not None
    assert rows[0][1] == r"a \| b  c"


@given(st.lists(st.lists(awkward, min_size=1, max_size=4), max_size=5), st.integers(1, 40))
def test_any_table_fits_and_keeps_its_letters(table: list[list[str]], width: int) -> None:
    lines = ["| " + " | ".join(row) + " |" for row in table]
    lines[1:1] = ["|---|---|"]
    rows = table_rows(lines, width)
    if rows is None:
        return
    assert all(cells(text) <= width for _, text in rows)
    kept = "".join(text for _, text in rows if not set(text) <= {"─", " "})
    asked = "".join(lines[:1] + lines[2:])
    letters = str.maketrans("", "", " |")
    assert kept.translate(letters) == asked.translate(letters)
