from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.columns import cells, cut, split_row, table, wrap

awkward = st.text("ab é日\u0301 ")


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0)])
def test_wide_letters_take_two_columns_and_marks_none(text: str, width: int) -> None:
    assert cells(text) == width


@given(awkward, st.integers(2, 12))
def test_no_row_is_wider_than_asked_for(text: str, width: int) -> None:
    assert all(cells(row) <= width for row in wrap(text, width))


@given(awkward, st.integers(2, 12))
def test_without_words_nothing_is_lost(text: str, width: int) -> None:
    assert "".join(wrap(text, width, words=False)) == text


@given(awkward, awkward, st.integers(2, 12))
def test_more_text_changes_only_the_last_row(text: str, more: str, width: int) -> None:
    rows = wrap(text, width)[:-1]
    assert wrap(text + more, width)[: len(rows)] == rows


def test_words_stay_whole_where_they_can() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("incomprehensible", 8) == ["incompre", "hensible"]
    assert wrap("    indented far", 9) == ["    inden", "ted far"]
    assert split_row("short", 8) is None


def test_a_cut_line_says_so() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_the_widest_column_of_a_table_gives_way() -> None:
    rows = [("ID", "TITLE"), ("1", "a title that is much too long")]
    assert table(rows, 20) == ["ID  TITLE", "1   a title that is…"]
    assert table(rows, None)[1] == "1   a title that is much too long"
