from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.chat.keys import Key
from flybridge.cli.chat.line_editor import MAX_TEXT, LineEditor
from flybridge.cli.rendering.columns import cells

NAMES = [
    *("newline", "backspace", "delete", "left", "right", "home", "end", "up", "down", "yank"),
    *("word-left", "word-right", "kill-end", "kill-start", "kill-word", "kill-word-right"),
]


def typed(text: str, *names: str, history: tuple[str, ...] = ()) -> LineEditor:
    editor = LineEditor(history)
    for char in text:
        editor.press(Key("newline") if char == "\n" else Key("char", char))
    for name in names:
        editor.press(Key(name))
    return editor


def test_enter_hands_the_text_over() -> None:
    editor = typed("hello")
    assert editor.press(Key("enter")) == "hello"
    assert editor.text == ""


def test_a_backslash_at_the_end_goes_on_in_a_new_line() -> None:
    editor = typed("one\\")
    assert editor.press(Key("enter")) is None
    assert editor.text == "one\n"


@pytest.mark.parametrize(
    ("text", "names", "left", "cursor"),
    [
        ("abc", ["left", "backspace"], "ac", 1),
        ("abc", ["home", "delete"], "bc", 0),
        ("abc", ["home", "ctrl-d"], "bc", 0),
        ("one two", ["kill-word"], "one ", 4),
        ("one two", ["word-left", "kill-end"], "one ", 4),
        ("one two", ["kill-start", "yank", "yank"], "one twoone two", 14),
        ("one two", ["home", "word-right", "kill-word-right"], "one", 3),
        ("a\nbc", ["home", "kill-start"], "a\nbc", 2),
        ("abc\nd", ["up"], "abc\nd", 1),
        ("abc\nd", ["up", "end", "down"], "abc\nd", 5),
        ("", ["backspace", "left", "right", "kill-word"], "", 0),
    ],
)
def test_keys_edit_as_in_a_shell(text: str, names: list[str], left: str, cursor: int) -> None:
    editor = typed(text, *names)
    assert (editor.text, editor.cursor) == (left, cursor)


def test_the_history_gives_back_what_was_being_typed() -> None:
    editor = typed("draft", "up", "up", "up", history=("first", "second"))
    assert editor.text == "first"
    for _ in range(3):
        editor.press(Key("down"))
    assert editor.text == "draft"


def test_the_same_line_is_remembered_once() -> None:
    editor = LineEditor(["a"])
    for line in ("a", "b", "b", " "):
        editor.remember(line)
    assert editor.history == ["a", "b"]


def test_text_has_a_bound() -> None:
    editor = LineEditor()
    editor.insert("x" * (MAX_TEXT + 5))
    editor.insert("y")
    assert len(editor.text) == MAX_TEXT


def test_the_layout_shows_lines_and_where_the_cursor_is() -> None:
    layout = typed("ab\ncd", "left").layout("> ", 20, 5)
    assert layout.rows == ["> ab", "  cd"]
    assert (layout.row, layout.column) == (1, 3)


def test_control_characters_that_were_pasted_are_visible() -> None:
    editor = LineEditor()
    editor.press(Key("paste", "a\x1bb"))
    layout = editor.layout("> ", 20, 5)
    assert layout.rows == ["> a^[b"]
    assert layout.column == 6


def test_of_many_rows_those_around_the_cursor_are_shown() -> None:
    editor = typed("\n".join(str(n) for n in range(9)))
    layout = editor.layout("> ", 20, 3)
    assert layout.rows == ["  6", "  7", "  8"]
    editor.press(Key("home"))
    for _ in range(8):
        editor.press(Key("up"))
    assert editor.layout("> ", 20, 3).rows[0] == "> 0"


@given(
    st.text("ab 日\n", max_size=40),
    st.lists(st.sampled_from(NAMES), max_size=20),
    st.integers(8, 20),
    st.integers(1, 4),
)
def test_whatever_is_pressed_cursor_and_rows_stay_in_bounds(
    text: str, names: list[str], width: int, rows: int
) -> None:
    editor = typed(text, *names, history=("older", "old\nold"))
    assert 0 <= editor.cursor <= len(editor.text)
    layout = editor.layout("> ", width, rows)
    assert 0 < len(layout.rows) <= rows
    assert 0 <= layout.row < len(layout.rows)
    assert all(cells(row) <= width for row in layout.rows)
    assert 0 <= layout.column <= width
