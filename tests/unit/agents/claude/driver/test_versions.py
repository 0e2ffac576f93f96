from __future__ import annotations

import pytest

from flybridge.agents.claude.driver.versions import MIDDLE, MODES, NEW, OLD, Traits, traits_of
from flybridge.session.modes import asks_less, default_mode, grants, is_planning

ORDER = ["plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"]


@pytest.mark.parametrize(
    ("version", "traits"),
    [
        ("2.1.38", OLD),
        ("2.1.120", OLD),
        ("1.0", OLD),
        ("2.1.121", MIDDLE),
        ("2.1.200", MIDDLE),
        ("2.1.205", MIDDLE),
        ("2.1.206", NEW),
        ("2.1.325", NEW),
        ("3.0", NEW),
        ("", NEW),
        ("next", NEW),
    ],
)
def test_a_version_is_old_or_new_and_new_where_it_cannot_be_read(
    version: str, traits: Traits
) -> None:
    assert traits_of(version) is traits


@pytest.mark.parametrize("mode", ORDER)
def test_modes_are_in_one_order(mode: str) -> None:
    at = ORDER.index(mode)
    less = [asks_less(MODES, other, mode) for other in ORDER]
    assert less == [n > at for n in range(len(ORDER))]


def test_every_mode_of_a_known_version_has_its_place() -> None:
    assert {mode.id for mode in MODES} == OLD.modes | MIDDLE.modes | NEW.modes
    assert default_mode(MODES) == "default"
    assert not asks_less(MODES, "manual", "default")
    assert not asks_less(MODES, "default", "manual")
    assert [mode.id for mode in MODES if is_planning(MODES, mode.id)] == ["plan"]


def test_every_mode_has_a_name_of_its_own_and_a_description() -> None:
    assert len({mode.name for mode in MODES} - {""}) == len(MODES)
    assert all(mode.description for mode in MODES)


def test_modes_that_anybody_may_choose_ask_for_all_that_the_default_asks_for() -> None:
    free = [mode.id for mode in MODES if not grants(MODES, mode.id)]
    assert free == ["plan", "dontAsk", "default", "manual"]


def test_labels_are_joined_as_each_takes_them() -> None:
    assert (OLD.separator, NEW.separator) == (",", ", ")


def test_an_old_version_has_nothing_that_a_new_one_has_not() -> None:
    assert OLD.commands < NEW.commands
    assert OLD.queries < NEW.queries
    assert OLD.at_start <= OLD.commands
    assert NEW.at_start == set()
    assert (OLD.fast, OLD.logs_in, NEW.fast, NEW.logs_in) == (False, False, True, True)


def test_a_middle_version_lies_between_the_two() -> None:
    assert OLD.queries < MIDDLE.queries < NEW.queries
    assert (MIDDLE.commands, MIDDLE.transports) == (NEW.commands, NEW.transports)
    assert (MIDDLE.cancels_queue, NEW.cancels_queue) == (False, True)


def test_only_an_old_version_connects_to_us() -> None:
    assert OLD.transports == {"stdio", "socket", "by_hand"}
    assert NEW.transports == {"stdio"}
