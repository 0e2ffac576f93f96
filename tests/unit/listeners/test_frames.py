from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode

from flybridge.listeners.frames import (
    BAD_TEXT,
    MAX_FRAGMENTS,
    NOT_TEXT,
    TOO_MANY_PIECES,
    Allowance,
    Ending,
    Pieces,
    text_frame,
)


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65535, 65536, 70000])
def test_a_frame_is_what_the_library_would_make_of_it(size: int) -> None:
    payload = b"x" * size
    assert text_frame([payload]) == Frame(Opcode.TEXT, payload).serialize(mask=False)


def test_messages_of_one_frame_stand_on_lines_of_their_own() -> None:
    assert text_frame([b"a", b"b\nc"]) == b"\x81\x05a\nb\nc"


def pieces(*parts: bytes) -> bytes | Ending | None:
    """The last answer; all before it must ask for more."""
    reader = Pieces()
    for n, part in enumerate(parts[:-1]):
        assert reader.receive(Frame(Opcode.CONT if n else Opcode.TEXT, part, fin=False)) is None
    return reader.receive(Frame(Opcode.CONT if len(parts) > 1 else Opcode.TEXT, parts[-1]))


@given(text=st.text(max_size=30), cuts=st.lists(st.integers(0, 60), max_size=6))
def test_a_text_is_whole_wherever_it_was_cut(text: str, cuts: list[int]) -> None:
    data = text.encode()
    at = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    assert pieces(*(data[a:b] for a, b in itertools.pairwise(at))) == data


@given(data=st.binary(min_size=1, max_size=12), cut=st.integers(0, 12))
def test_what_is_no_text_is_refused_and_nothing_else(data: bytes, cut: int) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        good = False
    else:
        good = True
    reader = Pieces()
    answer = reader.receive(Frame(Opcode.TEXT, data[:cut], fin=False))
    if answer is None:
        answer = reader.receive(Frame(Opcode.CONT, data[cut:]))
    assert answer == (data if good else BAD_TEXT)
    assert pieces(data) == (data if good else BAD_TEXT)


def test_what_is_no_text_is_refused_before_its_end() -> None:
    reader = Pieces()
    assert reader.receive(Frame(Opcode.TEXT, b"\xf4", fin=False)) is None
    assert reader.receive(Frame(Opcode.CONT, b"\x90", fin=False)) == BAD_TEXT


def test_one_reader_reads_one_message_after_the_other() -> None:
    reader = Pieces()
    for text in (b"one", b"two"):
        assert reader.receive(Frame(Opcode.TEXT, text[:1], fin=False)) is None
        assert reader.receive(Frame(Opcode.CONT, text[1:])) == text
    assert reader.receive(Frame(Opcode.TEXT, b"three")) == b"three"


def test_a_message_has_only_so_many_pieces() -> None:
    assert pieces(*[b"x"] * MAX_FRAGMENTS) == b"x" * MAX_FRAGMENTS
    assert pieces(*[b"x"] * (MAX_FRAGMENTS + 1)) == TOO_MANY_PIECES


def test_binary_is_refused_with_its_first_frame() -> None:
    assert Pieces().receive(Frame(Opcode.BINARY, b"", fin=False)) == NOT_TEXT


def test_an_allowance_is_used_up_and_grows_again() -> None:
    some = Allowance(at_once=3, per_s=2)
    assert [some.take(10.0) for _ in range(4)] == [True, True, True, False]
    assert [some.take(11.0), some.take(11.0)] == [True, False]
    assert [some.take(1000.0) for _ in range(4)] == [True, True, True, False]
