from __future__ import annotations

import asyncio

from flybridge.model.deliveries import Stage
from flybridge.model.ids import InputKey
from flybridge.runtime.waiters import Waiters, is_reached

KEY = InputKey("k")


async def test_a_wait_ends_when_its_stage_is_reached() -> None:
    waiters = Waiters()
    early, late = waiters.wait(KEY, Stage.WRITTEN), waiters.wait(KEY, Stage.DONE)
    waiters.moved(KEY, "accepted")
    assert not early.done()
    waiters.moved(KEY, "written")
    assert early.result() == "written"
    assert not late.done()
    waiters.moved(KEY, "done")
    assert late.result() == "done"


async def test_a_bad_end_ends_every_wait() -> None:
    waiters = Waiters()
    waiting = waiters.wait(KEY, Stage.DONE)
    waiters.moved(KEY, "lost")
    assert waiting.result() == "lost"


async def test_a_wait_that_was_given_up_is_forgotten() -> None:
    waiters = Waiters()
    given_up, kept = waiters.wait(KEY, Stage.DONE), waiters.wait(KEY, Stage.DONE)
    given_up.cancel()
    await asyncio.sleep(0)
    waiters.moved(KEY, "done")
    assert kept.result() == "done"


def test_far_enough_is_a_matter_of_order() -> None:
    assert is_reached("observed", Stage.WRITTEN)
    assert not is_reached("dispatching", Stage.WRITTEN)
    assert is_reached("unknown", Stage.DONE)
