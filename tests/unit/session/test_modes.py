from __future__ import annotations

import pytest

from flybridge.model.capabilities import Mode
from flybridge.session.modes import (
    asks_less,
    default_mode,
    grants,
    in_order,
    is_default,
    is_planning,
)

MODES = (
    Mode("look", -1, plans=True),
    Mode("ask", 0),
    Mode("askToo", 0),
    Mode("edit", 1),
    Mode("all", 9),
)
ORDER = ["look", "ask", "edit", "all", "a mode that it does not publish"]


@pytest.mark.parametrize("mode", ORDER)
def test_modes_are_ordered_by_what_the_agent_publishes(mode: str) -> None:
    at = ORDER.index(mode)
    less = [asks_less(MODES, other, mode) for other in ORDER]
    assert less == [n > at for n in range(len(ORDER))]


def test_modes_of_equal_freedom_ask_the_same() -> None:
    assert not asks_less(MODES, "ask", "askToo")
    assert not asks_less(MODES, "askToo", "ask")


def test_a_mode_that_is_not_published_grants_everything() -> None:
    assert not asks_less(MODES, "new", "other")
    assert not asks_less(MODES, "all", "new")
    assert [grants(MODES, name) for name in ORDER] == [False, False, True, True, True]
    assert grants((), "default")
    assert not is_default((), "default")
    assert not is_planning((), "plan")


def test_names_are_listed_from_the_mode_that_asks_most() -> None:
    assert in_order(MODES, ["b", "edit", "a", "askToo", "ask", "look"]) == [
        "look",
        "ask",
        "askToo",
        "edit",
        "a",
        "b",
    ]


def test_default_and_planning_modes_are_known_by_what_is_published() -> None:
    assert [name for name in ORDER if is_default(MODES, name)] == ["ask"]
    assert (default_mode(MODES), default_mode(())) == ("ask", "")
    assert [name for name in ORDER if is_planning(MODES, name)] == ["look"]
