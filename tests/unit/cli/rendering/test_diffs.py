from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from flybridge.cli.rendering import diffs
from flybridge.cli.rendering.diffs import Signed, counted, edit_lines, made, made_by, patch_lines
from flybridge.model.diffs import DiffHunk
from flybridge.model.events import Diff
from flybridge.model.ids import ItemId

lines = st.lists(st.sampled_from(["a", "b", "", "+c", "-d", "\r"]), max_size=8)


def encoded(value: object) -> bytes:
    return msgspec.json.encode(value)


@given(lines, lines)
def test_an_edit_shows_every_line_of_both_texts(old: list[str], new: list[str]) -> None:
    shown = edit_lines("\n".join(old), "\n".join(new))
    before = "\n".join(line.text for line in shown if line.sign in " -")
    after = "\n".join(line.text for line in shown if line.sign in " +")
    assert (before, after) == ("\n".join(old), "\n".join(new))


def test_the_end_of_a_line_is_a_difference() -> None:
    assert edit_lines("a\n", "a") == [Signed(" ", "a"), Signed("-", "")]
    assert edit_lines("a\r", "a") == [Signed("-", "a\r"), Signed("+", "a")]


def test_long_texts_are_shown_one_after_the_other() -> None:
    text = "\n".join("x" * diffs.MAX_COMPARED)
    assert counted(edit_lines(text, text)) == f"+{diffs.MAX_COMPARED} -{diffs.MAX_COMPARED}"


def test_a_patch_is_hunks_or_text() -> None:
    hunk = {"newStart": 3, "lines": [" a", "-b", "+c", "\\ No newline"]}
    shown = patch_lines(encoded([hunk, 7]))
    assert [line.row for line in shown] == ["line 3:", "  a", "- b", "+ c", "\\ No newline", "7"]
    assert [line.style for line in shown[1:4]] == ["diff", "removed", "added"]
    text = patch_lines(encoded("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y"))
    assert [line.sign for line in text] == ["@", "@", "@", "-", "+"]
    assert counted(text) == "+1 -1"


def test_a_tools_own_account_of_a_change_is_understood() -> None:
    hunk = {"oldStart": 1, "newStart": 1, "lines": ["-a", "+b"]}
    edited = {"filePath": "f", "structuredPatch": [hunk]}
    assert counted(made_by(encoded(edited))) == "+1 -1"
    created = {"type": "create", "content": "a\nb\n", "structuredPatch": []}
    assert made_by(encoded(created)) == [Signed("+", "a"), Signed("+", "b")]


def test_anything_else_is_no_change() -> None:
    others: list[object] = [{"stdout": "x"}, {"type": "create", "content": "x"}, [], "Error", None]
    assert [made_by(encoded(detail)) for detail in others] == [[]] * 5
    assert made_by(b"") == []


@given(
    st.recursive(
        st.none() | st.text(max_size=5),
        lambda x: (
            st.lists(x)
            | st.dictionaries(st.sampled_from(["lines", "newStart", "structuredPatch"]), x)
        ),
        max_leaves=6,
    )
)
def test_any_patch_has_lines(value: object) -> None:
    for line in [*patch_lines(encoded(value)), *made_by(encoded(value))]:
        assert isinstance(line.row, str)


def test_typed_hunks_are_read_before_what_the_agent_wrote_itself() -> None:
    hunk = DiffHunk(old_start=4, new_start=5, lines=(" a", "-b", "+c", "\\ 3 more lines"))
    event = Diff(item=ItemId("i"), path="a", patch=Raw(b'"its own form"'), hunks=(hunk,))
    assert made(event) == [
        Signed("@", "line 5:"),
        Signed(" ", "a"),
        Signed("-", "b"),
        Signed("+", "c"),
        Signed("@", "\\ 3 more lines"),
    ]
    old = Diff(item=ItemId("i"), path="a", patch=Raw(b'[{"newStart":5,"lines":["+c"]}]'))
    assert made(old) == [Signed("@", "line 5:"), Signed("+", "c")]
