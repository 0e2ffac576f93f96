from __future__ import annotations

import pytest

from flybridge.agents.claude.driver.versions import MIDDLE, NEW, OLD, Traits, traits_of


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
