from __future__ import annotations

import pytest
from msgspec import Raw

from flybridge.agents.claude.driver.versions import NEW, OLD
from flybridge.session.modes import asks_less, mode_in

ORDER = ["plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions"]


@pytest.mark.parametrize("mode", ORDER)
def test_modes_are_in_one_order(mode: str) -> None:
    at = ORDER.index(mode)
    assert [asks_less(other, mode) for other in ORDER] == [n > at for n in range(len(ORDER))]


def test_every_mode_of_a_known_version_has_its_place() -> None:
    for mode in OLD.modes | NEW.modes:
        assert asks_less("a mode of a newer version", mode), mode
    assert not asks_less("manual", "default")
    assert not asks_less("default", "manual")


def test_a_mode_that_nobody_knows_asks_least() -> None:
    assert not asks_less("new", "other")
    assert not asks_less("bypassPermissions", "new")


@pytest.mark.parametrize(
    ("rule", "mode"),
    [
        (b'{"type":"setMode","mode":"acceptEdits","destination":"session"}', "acceptEdits"),
        (b'{"type":"addRules","mode":"acceptEdits"}', ""),
        (b'{"type":"setMode","mode":1}', ""),
        (b'"setMode"', ""),
        (b"[" * 2000, ""),
        (b"", ""),
    ],
)
def test_the_mode_in_a_suggestion(rule: bytes, mode: str) -> None:
    assert mode_in(Raw(rule)) == mode
