from __future__ import annotations

import asyncio

from flybridge.model.ids import SessionId
from flybridge.runtime.changes import MAX_GONE, Changes
from tests.harness.waiting import WAIT_S

A, B = SessionId("ses_a"), SessionId("ses_b")


def test_what_changed_after_a_number_is_told_and_nothing_else() -> None:
    changes = Changes(100)
    changes.touched(A)
    seen = changes.at
    changes.touched(B)
    assert changes.since(seen) == ([B], [])
    changes.touched(A)
    assert changes.since(seen) == ([A, B], [])
    assert changes.since(changes.at) == ([], [])


def test_a_session_that_is_gone_is_told_as_gone() -> None:
    changes = Changes(100)
    changes.touched(A)
    changes.dropped(A)
    assert changes.since(100) == ([], [A])


def test_a_number_of_another_gateway_is_not_known() -> None:
    changes = Changes(100)
    changes.touched(A)
    assert not changes.knows(99)
    assert changes.knows(100)
    assert changes.knows(101)
    assert not changes.knows(102)


def test_who_missed_too_many_endings_is_told_everything() -> None:
    changes = Changes(100)
    for number in range(MAX_GONE + 1):
        changes.dropped(SessionId(f"ses_{number}"))
    assert not changes.knows(100)
    assert changes.knows(101)


async def test_whoever_waits_is_woken_by_the_next_change() -> None:
    changes = Changes(100)
    waiting = asyncio.ensure_future(changes.wait(100, 30))
    await asyncio.sleep(0)
    assert not waiting.done()
    changes.touched(A)
    await asyncio.wait_for(waiting, WAIT_S)
    assert changes.since(100) == ([A], [])


async def test_waiting_ends_when_nothing_happens() -> None:
    changes = Changes(100)
    await asyncio.wait_for(changes.wait(100, 0.01), WAIT_S)
    assert changes.since(100) == ([], [])
