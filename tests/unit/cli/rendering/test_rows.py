from __future__ import annotations

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from flybridge.cli.rendering.columns import cells
from flybridge.cli.rendering.rows import RowBuilder
from flybridge.cli.rendering.styles import BOLD, CYAN, DIM, STYLES


def shown(rows: RowBuilder) -> list[str]:
    done = [row.mark + row.text for row in rows.take()]
    tail = rows.tail
    return [*done, tail.mark + tail.text] if tail else done


@example("-" * 11 + " x", [11])  # a rule, as far as the first row goes
@given(
    st.text("ab \r\n\x1b", max_size=60) | st.text("a\u4e00 \n#`-|>1.", max_size=60),
    st.lists(st.integers(0, 60), max_size=6),
)
def test_rows_do_not_depend_on_how_text_was_cut(text: str, cuts: list[int]) -> None:
    whole, pieces = RowBuilder(12), RowBuilder(12)
    whole.write(text, "text")
    places = [0, *sorted(cuts), len(text)]
    for start, end in pairwise(places):
        pieces.write(text[start:end], "text")
    whole.fresh()
    pieces.fresh()
    assert pieces.take() == whole.take()


@given(
    st.text(max_size=80) | st.text("a \n#`-|>1.", max_size=80),
    st.sampled_from(["text", "tool", "box", "result"]),
)
def test_every_row_begins_with_its_mark_and_fits(text: str, style: str) -> None:
    rows = RowBuilder(20)
    rows.line(text, style)
    done = rows.take()
    assert done
    assert all(cells(row.mark + row.text) <= 20 for row in done)
    assert all(row.mark in (row.style.first, row.style.rest) for row in done)


def test_another_style_begins_a_new_row() -> None:
    rows = RowBuilder(40)
    rows.write("thinking", "thinking")
    rows.write("say", "text")
    rows.write("ing", "text")
    assert shown(rows) == ["∴ thinking", "  saying"]


def test_only_the_first_row_has_the_first_mark() -> None:
    rows = RowBuilder(10)
    rows.line("ls -la and more\nlast", "tool")
    assert shown(rows) == ["● ls -la", "  and more", "  last"]


def test_gaps_do_not_add_up() -> None:
    rows = RowBuilder(40)
    rows.gap()
    rows.line("a", "text")
    rows.gap()
    rows.gap()
    rows.line("b", "text")
    assert shown(rows) == ["  a", "", "  b"]


def test_without_a_width_lines_stay_whole() -> None:
    rows = RowBuilder()
    rows.line("x" * 500, "text")
    assert [len(row.text) for row in rows.take()] == [500]


def test_a_box_moves_no_word_and_drops_no_space() -> None:
    rows = RowBuilder(10)
    rows.line("rm   -rf    /", "box")
    assert "".join(row.text for row in rows.take()) == "rm   -rf    /"


def test_an_empty_line_is_a_row() -> None:
    rows = RowBuilder(10)
    rows.line("", "box")
    assert shown(rows) == ["┃ "]


def test_text_of_an_agent_is_laid_out_as_markdown() -> None:
    rows = RowBuilder(24)
    rows.write("# Title\n- a point that is too long\n```py\nif x:\n    y\n```\n", "text")
    assert [(row.mark + row.text, row.style) for row in rows.take()] == [
        ("  # Title", STYLES["heading"]),
        ("  - a point that is too", STYLES["text"]),
        ("    long", STYLES["text"]),
        ("  ```py", STYLES["fence"]),
        ("    if x:", STYLES["code"]),
        ("        y", STYLES["code"]),
        ("  ```", STYLES["fence"]),
    ]


def test_a_table_waits_until_it_is_complete() -> None:
    rows = RowBuilder(40)
    rows.write("| a | b |\n|---|--:|\n| long | 1 |\n| x", "text")
    assert rows.take() == []
    assert rows.tail is not None
    rows.write(" | 22 |\nafter", "text")
    assert shown(rows) == ["  a      b", "  ────  ──", "  long   1", "  x     22", "  after"]


def test_what_does_not_fit_as_a_table_stays_as_it_was() -> None:
    lines = ["| a | b |", "|---|---|", "| " + "x" * 12 + " | y |", "| no end"]
    rows = RowBuilder(14)
    rows.line("\n".join(lines), "text")
    text = "".join(shown(rows))
    assert text.replace(" ", "") == "".join(lines).replace(" ", "")


def test_another_text_does_not_go_on_in_the_code_of_the_last() -> None:
    rows = RowBuilder(40)
    rows.write("```\ncode", "text")
    rows.gap()
    rows.write("text", "text")
    assert shown(rows)[-1] == "  text"


def test_text_that_is_written_as_it_comes_is_left_alone() -> None:
    rows = RowBuilder(40, words=False)
    rows.line("# Title\n| a | b |\n|---|---|\n```\ncode", "text")
    assert shown(rows) == ["  # Title", "  | a | b |", "  |---|---|", "  ```", "  code"]
    assert all(row.style is STYLES["text"] for row in rows.take())


def test_only_what_an_agent_says_is_markdown() -> None:
    rows = RowBuilder(40)
    rows.line("# no heading\n| a |\n|---|", "result")
    assert shown(rows) == ["  ⎿ # no heading", "    | a |", "    |---|"]


def test_bold_and_code_have_looks_of_their_own() -> None:
    rows = RowBuilder(14)
    rows.write("a **bold word** `x`\n```\n**no**\n", "text")
    first, second, _, code = rows.take()
    assert first.pieces == (("a ", ""), ("**", DIM), ("bold", BOLD))
    assert second.pieces[:2] == (("word", BOLD), ("**", DIM))
    assert code.pieces == ()


def test_the_row_that_grows_shows_what_is_open() -> None:
    rows = RowBuilder(40)
    rows.write("say `co", "text")
    assert rows.tail is not None
    assert rows.tail.pieces[-1] == ("co", CYAN)
    rows.write("\n", "text")
    assert rows.take()[0].pieces == ()  # it never closed


def test_only_what_an_agent_says_has_looks() -> None:
    rows = RowBuilder(40)
    rows.line("**no**", "result")
    assert rows.take()[0].pieces == ()


def test_an_aside_comes_before_the_row_that_grows() -> None:
    rows = RowBuilder(24)
    rows.write("- a point that is long", "text")
    rows.aside("between", "notice")
    rows.write(" enough for two\n", "text")
    assert shown(rows) == ["· between", "  - a point that is long", "    enough for two"]
    rows.aside("after", "notice")
    assert shown(rows) == ["· after"]
