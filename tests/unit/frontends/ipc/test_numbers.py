"""Numbers go up by one, whatever they are drawn for."""

from __future__ import annotations

import pytest

from flybridge.frontends.ipc.numbers import Message, Numbers, Turn


@pytest.mark.conforms("ipc: numbers")
def test_numbers_are_drawn_once_each() -> None:
    numbers = Numbers()
    assert [numbers.draw() for _ in range(3)] == [0, 1, 2]


def test_turns_share_nothing() -> None:
    one, two = Turn(Message("a", 0)), Turn(Message("b", 1))
    one.texts.append("x")
    assert (two.texts, two.merged) == ([], [])
