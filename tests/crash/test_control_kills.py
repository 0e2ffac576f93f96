"""kill -9 of the gateway at system calls between a control message and its acknowledgement.

Each run tries some of them; `python -m tests.soak` tries every one.

With the keeper alive every message comes to a good end; with the keeper killed too its outcome is
told. Never is one written twice, and never is ``ok`` said of something that is not there.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.crash.points import kill_everywhere
from tests.crash.steering import steered

SOME = 4  # of how many points one is tried
FEW = 10  # and where the way is the same as that of a message


@pytest.mark.strace
@pytest.mark.conforms("S2-5g")
@pytest.mark.parametrize("keeper_too", [False, True])
def test_a_message_is_neither_lost_nor_doubled(keeper_too: bool, points: Counter[str]) -> None:
    name = f"control message, keeper {'dies too' if keeper_too else 'lives'}"
    made = steered("stdin", keeper_too=keeper_too)
    points[name] += kill_everywhere(made, (0, SOME))["hit"]


@pytest.mark.strace
@pytest.mark.parametrize("keeper_too", [False, True])
@pytest.mark.parametrize("kind", ["content_ref", "interrupt"])
def test_nor_is_a_file_or_an_interrupt(kind: str, keeper_too: bool, points: Counter[str]) -> None:
    name = f"control {kind}, keeper {'dies too' if keeper_too else 'lives'}"
    points[name] += kill_everywhere(steered(kind, keeper_too=keeper_too), (0, FEW))["hit"]
