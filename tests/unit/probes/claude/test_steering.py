"""Each fault in what happens meanwhile is found by the probe that looks for it."""

from __future__ import annotations

import pytest

from tests.harness.small import verdict

FAULTS = [
    ("interrupt", "not-stopped", "broken", "refused: not now"),
    ("queue", "keeps-queue", "changed", "what waits runs next"),
    ("steer", "own-turn", "changed", "answered in a turn of its own"),
    ("strange", "no-unknown", "changed", "not answered"),
    ("strange", "refuses-mode", "broken", "takes no more requests: no such mode"),
]


@pytest.mark.parametrize(("name", "fault", "wanted", "found"), FAULTS)
def test_a_fault_is_found(name: str, fault: str, wanted: str, found: str) -> None:
    assert verdict(name, fault) == (wanted, found)
