from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.cli.chat.keys import MAX_PASTE, Key, KeyDecoder

SOUP = "aé日\x1b[A\x1b[3~\x1bb\x1b[200~x\r\ny\x1b[201~\x03\r".encode()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x1b[A", "up"),
        (b"\x1bOA", "up"),
        (b"\x1b[1;5C", "word-right"),
        (b"\x1b[3~", "delete"),
        (b"\x1bf", "word-right"),
        (b"\x1b\r", "newline"),
        (b"\x03", "ctrl-c"),
        (b"\x04", "ctrl-d"),
        (b"\r", "enter"),
        (b"\n", "newline"),
        (b"\x1b[99z", "other"),
        (b"\x1f", "other"),
    ],
)
def test_keys_have_names(data: bytes, name: str) -> None:
    (key,) = KeyDecoder().receive(data)
    assert key.name == name


@given(st.lists(st.integers(0, len(SOUP)), max_size=8))
def test_keys_do_not_depend_on_how_reads_were_split(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(SOUP)]
    decoder = KeyDecoder()
    keys: list[Key] = []
    for start, end in pairwise(places):
        keys += decoder.receive(SOUP[start:end])
    assert keys == KeyDecoder().receive(SOUP)
    assert not decoder.pending


@given(st.binary(max_size=64))
def test_any_bytes_give_keys(data: bytes) -> None:
    decoder = KeyDecoder()
    decoder.receive(data)
    decoder.flush()
    assert all(isinstance(key, Key) for key in decoder.receive(b"x"))


def test_an_escape_alone_is_a_key_once_nothing_follows() -> None:
    decoder = KeyDecoder()
    assert decoder.receive(b"\x1b") == []
    assert decoder.pending
    assert decoder.flush() == [Key("esc")]
    assert not decoder.pending
    assert decoder.flush() == []


def test_half_a_sequence_is_not_lost_when_nothing_follows() -> None:
    decoder = KeyDecoder()
    decoder.receive(b"\x1b[")
    assert decoder.flush() == [Key("esc"), Key("char", "[")]


def test_two_escapes_are_one_key_and_a_beginning() -> None:
    decoder = KeyDecoder()
    assert decoder.receive(b"\x1b\x1b") == [Key("esc")]
    assert decoder.flush() == [Key("esc")]


def test_a_paste_is_one_key_with_plain_newlines() -> None:
    keys = KeyDecoder().receive(b"\x1b[200~one\r\ntwo\rthree\x1b[201~!")
    assert keys == [Key("paste", "one\ntwo\nthree"), Key("char", "!")]


def test_a_paste_without_end_is_handed_over_in_pieces() -> None:
    decoder = KeyDecoder()
    keys = decoder.receive(b"\x1b[200~" + b"x" * MAX_PASTE)
    assert [key.name for key in keys] == ["paste"]
    (rest,) = decoder.receive(b"\x1b[201~")
    assert len(keys[0].text) + len(rest.text) == MAX_PASTE


def test_a_sequence_that_never_ends_is_given_up() -> None:
    keys = KeyDecoder().receive(b"\x1b[" + b"1" * 64)
    assert keys[0] == Key("other")
    assert keys[-1] == Key("char", "1")


def test_control_x_is_a_key_of_its_own() -> None:
    assert [key.name for key in KeyDecoder().receive(b"\x18\x05")] == ["ctrl-x", "end"]
