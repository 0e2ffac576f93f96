"""Each fault in beginnings and ends is found by the probe that looks for it."""

from __future__ import annotations

import pytest

from tests.harness.small import verdict

FAULTS = [
    ("end", "exits-3", "changed", "ends with status 3"),
    ("resume", "forgets", "broken", "does not know what was said, same id"),
    ("repeat_resumed", "runs-twice", "broken", "run 2 times"),
    ("fork", "keeps-id", "broken", "knows what was said, other id"),
    ("lost", "other-words", "broken", "says something else, ends with status 1"),
]


@pytest.mark.parametrize(("name", "fault", "wanted", "found"), FAULTS)
def test_a_fault_is_found(name: str, fault: str, wanted: str, found: str) -> None:
    assert verdict(name, fault) == (wanted, found)


def test_a_probe_that_needs_a_past_makes_one() -> None:
    assert verdict("repeat_resumed") == ("same", "named back, not run again")
