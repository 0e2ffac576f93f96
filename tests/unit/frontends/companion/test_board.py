"""Which slot is meant, which one is free, and what it is called."""

from __future__ import annotations

from flybridge.frontends.companion.board import Board
from tests.unit.frontends.companion.logs import board_with, exited


def test_slots_have_names_unlike_each_other() -> None:
    board, first = board_with()
    _, second = board_with(number=1, board=board)
    assert (first.name, second.name) == ("claude", "claude-2")


def test_a_slot_is_free_as_soon_as_its_process_is_gone() -> None:
    board, slot = board_with()
    assert board.free(range(9)) == [1, 2, 3]
    slot.apply(exited())
    assert board.free([3, 0]) == [0, 3]
    assert board.used == {}


def test_newer_devices_say_the_slot_and_older_ones_the_name() -> None:
    board, _ = board_with()
    board_with(number=2, board=board)
    assert board.meant("", 2) == 2
    assert board.meant("", 0) == 0
    assert board.meant("", None) == 0
    assert board.meant("claude-2", 0) == 2
    assert board.meant("claude-2", None) == 2
    assert board.meant("CLAUDE", 0) == 0
    assert board.meant("claude", 2) == 2


def test_there_is_no_slot_beyond_the_last() -> None:
    board = Board(2)
    assert board.meant("", 2) is None
    assert board.meant("", -1) is None
