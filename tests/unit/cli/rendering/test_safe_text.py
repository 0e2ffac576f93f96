from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.rendering.safe_text import MAX_MARKS, look_alikes, one_line, visible
from tests.harness.hidden_characters import HIDDEN


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[2J", "^[[2J"),
        ("\x1b]52;c;cm0=\x07", "^[]52;c;cm0=^G"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\tb", "a    b"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a^Mb"),
        ("\x7f\x00", "^?^@"),
        ("\ud800", "<U+D800>"),
        ("\U000e0041", "<U+E0041>"),
        ("naïve 日本 🙂", "naïve 日本 🙂"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_every_control_and_format_character_is_spelled_out() -> None:
    left = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and chr(code) != "\n"
        and visible(chr(code)) == chr(code)
    ]
    assert left == []


@given(st.text())
def test_what_was_made_visible_stays_as_it_is(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert not any(c < " " and c != "\n" for c in once)


def test_a_joined_picture_stays_whole_but_not_where_it_matters() -> None:
    family = "\U0001f468\u200d\U0001f469"
    assert visible(family) == family
    assert "<U+200D>" in visible(family, strict=True)
    assert visible("a\u200db") == "a<U+200D>b"


def test_only_strict_text_spells_out_strange_spaces() -> None:
    assert visible("rm\xa0x") == "rm\xa0x"
    assert visible("rm\xa0x", strict=True) == "rm<U+00A0>x"


def test_a_tower_of_marks_is_cut_down() -> None:
    tower = "a" + "\u0301" * 50
    assert visible(tower).count("\u0301") == MAX_MARKS


def test_one_line_shows_where_lines_ended() -> None:
    assert one_line("a\nb\n") == "a ↵ b"


def test_words_of_several_scripts_are_found() -> None:
    assert look_alikes("rm p\u0430ssword naïve日 日本 plain") == ["p\u0430ssword", "naïve日"]
    assert look_alikes("plain naïve") == []


@pytest.mark.parametrize("code", HIDDEN)
def test_a11_nothing_in_what_a_person_allows_is_unseen(code: int) -> None:
    assert visible(f"a{chr(code)}b", strict=True) == f"a<U+{code:04X}>b"
