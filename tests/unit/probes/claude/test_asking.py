"""Each fault in asking people is found by the probe that looks for it."""

from __future__ import annotations

import pytest

from tests.harness.small import verdict

FAULTS = [
    ("allow", "asks-nobody", "broken", "ran without asking"),
    ("deny", "runs-denied", "broken", "ran although it was denied"),
    ("deny", "says-no", "changed", "did not run, the model heard nothing"),
    ("edit", "ignores-edit", "broken", "ran as it was, not as edited"),
    ("several", "asks-nobody", "broken", "nobody was asked"),
    ("several", "one-by-one", "changed", "one after the other"),
    ("withdraw", "no-cancel", "changed", "taken back"),
    ("withdraw", "not-stopped", "broken", "refused: not now"),
    ("question", "other-mark", "broken", "heard as Blue; Apple; Plum"),
    ("plan", "stays-in-plan", "changed", "shown, then in mode plan"),
    ("diff", "no-patch", "broken", "not shown"),
    ("subagent", "stands-alone", "broken", "its calls stand alone"),
]


@pytest.mark.parametrize(("name", "fault", "wanted", "found"), FAULTS)
def test_a_fault_is_found(name: str, fault: str, wanted: str, found: str) -> None:
    assert verdict(name, fault) == (wanted, found)
