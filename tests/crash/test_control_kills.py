"""kill -9 of the gateway at every system call between a control message and its acknowledgement.

With the keeper alive every message comes to a good end; with the keeper killed too its outcome is
told. Never is one written twice, and never is ``ok`` said of something that is not there.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.crash.points import Maker, kill_everywhere
from tests.crash.steering import Steered

PARTS = 6  # tests for each, so that each stays far below the cap
FEW = 10  # of how many points one is tried, where the way is the same as that of a message


def steered(kind: str, *, keeper_too: bool) -> Maker:
    return lambda base: Steered(base, kind, keeper_too=keeper_too)


@pytest.mark.strace
@pytest.mark.conforms("S2-5g")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("keeper_too", [False, True])
def test_a_message_is_neither_lost_nor_doubled(
    keeper_too: bool, part: int, points: Counter[str]
) -> None:
    name = f"control message, keeper {'dies too' if keeper_too else 'lives'}"
    made = steered("stdin", keeper_too=keeper_too)
    points[name] += kill_everywhere(made, (part, PARTS))["hit"]


@pytest.mark.strace
@pytest.mark.parametrize("keeper_too", [False, True])
@pytest.mark.parametrize("kind", ["content_ref", "interrupt"])
def test_nor_is_a_file_or_an_interrupt(kind: str, keeper_too: bool, points: Counter[str]) -> None:
    name = f"control {kind}, keeper {'dies too' if keeper_too else 'lives'}"
    points[name] += kill_everywhere(steered(kind, keeper_too=keeper_too), (0, FEW))["hit"]
