from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.asked import edit_parts, input_record, input_rows, is_plan
from flybridge.cli.rendering.columns import cells

EDIT = {"file_path": "/a", "old_string": "one\ntwo", "new_string": "one\n2", "replace_all": False}


def rows(value: object, width: int = 40) -> list[tuple[str, str]]:
    return input_rows(msgspec.json.encode(value), width)


def record(value: object, limit: int = 3) -> list[str]:
    return [text for _, text in input_record(msgspec.json.encode(value), 40, limit)]


def test_an_edit_is_a_difference_and_its_other_fields() -> None:
    assert rows(EDIT) == [
        ("box", "  file_path: /a"),
        ("box", "  replace_all: false"),
        ("box", "    one"),
        ("box_removed", "  - two"),
        ("box_added", "  + 2"),
    ]


def test_a_new_file_is_all_added() -> None:
    assert rows({"file_path": "/a", "content": "x\n", "mode": 7}) == [
        ("box", "  file_path: /a"),
        ("box", "  mode: 7"),
        ("box_added", "  + x"),
        ("box_added", "  + "),
    ]


def test_a_plan_is_its_text() -> None:
    assert rows({"plan": "# Do\nit", "extra": 1}) == [
        ("box", "  extra: 1"),
        ("box", "  # Do"),
        ("box", "  it"),
    ]
    assert is_plan(b'{"plan":"x"}')
    assert not is_plan(b'{"plan":" "}')
    assert not is_plan(b'{"plan":3}')


def test_anything_else_is_shown_as_it_is() -> None:
    assert rows({"command": "ls", "content": "x"}) == [
        ("box", "  command: ls"),
        ("box", "  content: x"),
    ]
    assert rows([1]) == [("box", "  [1]")]
    assert rows({}) == [("box", "  (no input)")]


def test_a_long_line_cannot_bring_a_sign_along() -> None:
    line = "x" * 16 + "+ evil"
    shown = rows({"file_path": "/a", "content": line}, 20)
    assert shown[1:] == [("box_added", "  + " + "x" * 16), ("box_added", "  … + evil")]


def test_what_cannot_be_seen_is_spelled_out() -> None:
    shown = rows({"file_path": "/a", "old_string": "a\r\nb", "new_string": "a\nb\u202e"})
    assert ("box_removed", "  - a^M") in shown
    assert ("box_added", "  + b<U+202E>") in shown


def test_a_record_of_an_edit_is_its_size() -> None:
    assert record(EDIT) == ["  file_path: /a", "  replace_all: false", "+1 -1 lines"]
    assert record({"file_path": "/a", "content": "x\ny\n"}) == ["  file_path: /a", "+2 -0 lines"]
    assert record({"plan": "a\nb"}) == ["a plan of 2 lines"]
    assert record({"command": "a\nb\nc"}) == ["  command:", "      a", "      b", "… 1 more rows"]


texts = st.text(max_size=30)
inputs = st.fixed_dictionaries(
    {},
    optional={
        "file_path": texts,
        "old_string": texts,
        "new_string": texts,
        "content": texts,
        "plan": texts,
        "other": st.none() | texts,
    },
)


@given(inputs, st.integers(10, 50))
def test_every_row_fits_is_harmless_and_indented(value: dict[str, object], width: int) -> None:
    for style, text in rows(value, width):
        assert style.startswith("box")
        assert text.startswith("  ")
        assert cells(text) <= width
        assert text.isprintable()


@pytest.mark.parametrize("key", ["old_string", "new_string", "content", "plan", "other"])
@given(text=st.text("abc xyz", min_size=1, max_size=40).filter(str.strip))
def test_nothing_of_an_input_is_left_out(key: str, text: str) -> None:
    value = {"file_path": "/f", "old_string": "q", "new_string": "q", key: text}
    if key in ("content", "plan"):
        value = {"file_path": "/f", key: text}
    shown = "".join(row[2:].lstrip("+-… ") for _, row in rows(value))
    assert text.replace(" ", "") in shown.replace(" ", "")


def test_the_change_of_an_edit_is_told_apart_from_the_rest() -> None:
    raw = b'{"file_path":"/x","old_string":"a","new_string":"b"}'
    rest, lines = edit_parts(raw)
    assert rest == b'{"file_path":"/x"}'
    assert [line.row for line in lines] == ["- a", "+ b"]
    new = edit_parts(b'{"file_path":"/x","content":"a\\n"}')
    assert [line.row for line in new[1]] == ["+ a"]
    for other in (b"", b'{"command":"ls"}', b'{"plan":"x"}'):
        assert edit_parts(other) == (other, [])


def test_a_plan_is_broken_between_words() -> None:
    assert rows({"plan": "several words that do not fit into one row"}) == [
        ("box", "  several words that do not fit into one"),
        ("box", "  row"),
    ]
