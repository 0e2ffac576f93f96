"""The promises of the ledger hold in every order of steps, and which rules they hang on."""

from __future__ import annotations

import sys

import pytest

from tests.unit.runtime.keeper.keeper_model import Found, Kind, Model, Rules, explore


def searched(*kinds: Kind, kills: int, rules: Rules) -> Found:
    found = explore(Model(kinds, kills=kills, rules=rules))
    ways = {promise: len(way) for promise, way in found.broken.items()}
    sys.stdout.write(f"{kinds}, {kills} kills, {rules}: {found.states} states, broken: {ways}\n")
    return found


@pytest.mark.parametrize(
    "kinds",
    [("input", "input", "input"), ("input", "input", "answer"), ("answer", "answer", "input")],
)
def test_no_order_of_steps_and_kills_breaks_a_promise(kinds: tuple[Kind, ...]) -> None:
    found = searched(*kinds, kills=3, rules=Rules())
    assert found.broken == {}
    assert found.states > 5000


def test_every_run_that_is_left_alone_ends_with_everything_written() -> None:
    found = searched("input", "answer", kills=3, rules=Rules())
    assert found.ends
    for state in found.ends:
        assert [row.stage for row in state.ledger] == ["written", "written"]


def test_without_closing_the_old_connection_unread_a_line_is_written_twice() -> None:
    found = searched("input", "input", kills=2, rules=Rules(close_old_unread=False))
    way = found.broken["written twice"]
    sys.stdout.write("\n".join(way))
    assert len(way) == 17
    assert "reported not delivered, but was written" in found.broken


def test_without_dropping_repeats_an_answer_is_written_twice() -> None:
    found = searched("answer", kills=1, rules=Rules(drop_repeats=False))
    assert "written twice" in found.broken
