"""kill -9 of the gateway at every system call between a request and its reply.

For each point the gateway is killed there, started again, and the client repeats its request
under the same id, as a client that got no reply does. Once with the keeper alive (then every
request comes to a good end), once with the keeper killed too (then its outcome is told).
``make soak`` does the same with more operations.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.crash.operations import EVERY
from tests.crash.points import Maker, Opening, doing, kill_everywhere

KILLED: dict[str, Maker] = {
    f"{name}, keeper {'dies too' if keeper_too else 'lives'}": doing(
        EVERY[name], keeper_too=keeper_too
    )
    for name in ("input", "allow", "interrupt")
    for keeper_too in (False, True)
} | {"opening a session": Opening}
PARTS = 2  # tests per operation, so that each stays far below the cap
SAMPLE = 12  # every how many calls `make test` tries one


@pytest.mark.strace
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("what", KILLED)
def test_a_gateway_killed_at_any_call_neither_loses_nor_doubles(
    what: str, part: int, points: Counter[str]
) -> None:
    points[what] += kill_everywhere(KILLED[what], (part, PARTS))["hit"]


@pytest.mark.sample
@pytest.mark.strace
@pytest.mark.parametrize("what", ["input, keeper lives", "allow, keeper dies too"])
def test_a_gateway_killed_at_a_sample_of_these_calls_neither_loses_nor_doubles(what: str) -> None:
    assert kill_everywhere(KILLED[what], (SAMPLE // 2, SAMPLE))["hit"] > 1
