"""A few of the stories that ``python -m tests.soak.visits`` plays by the hundred."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.web.conftest import Visitor
from tests.web.random_visits import Story
from tests.web.rig import Served
from tests.web.wire import LOST, Wire, through_wire

SEEDS = (2, 111)  # cut, taken down and killed, with messages on their way


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with closing(Wire()) as wire:
        yield wire


@pytest.fixture(scope="module")
def browser_args(wire: Wire) -> list[str]:
    return [wire.browser_arg]


@pytest.mark.timeout(300)  # fourteen steps, and two waits of a minute at their end
@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_happens_everybody_sees_the_same_and_all_is_done_once(
    gateway: Served, visitor: Visitor, wire: Wire, seed: int
) -> None:
    near, far = visitor(), visitor(logged_in=False)
    far.context.set_storage_state(through_wire(gateway.login))
    for one in (near, far):
        one.expect(LOST)
    story = Story(gateway, wire, near.page(), far.page(), seed)
    assert story.play(visitor().open) == [], story.happened
