from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection

import pytest

from flybridge.auth import batches
from flybridge.auth.batches import Batches, TooManyWaitingError


class Work:
    """Doubles numbers, once it may."""

    def __init__(self) -> None:
        self.runs: list[set[int]] = []
        self.may = threading.Event()

    def __call__(self, keys: Collection[int]) -> dict[int, int]:
        self.runs.append(set(keys))
        assert self.may.wait(60)
        return {key: key * 2 for key in keys if key >= 0}


async def begun(work: Work) -> None:
    while not work.runs:
        await asyncio.sleep(0.001)


async def test_whoever_asks_during_a_run_is_answered_by_the_next() -> None:
    work = Work()
    some = Batches(work)
    first = asyncio.ensure_future(some.get(1))
    await begun(work)
    others = [asyncio.ensure_future(some.get(key)) for key in (1, 2, 3, 3, -1)]
    work.may.set()
    assert await first == 2
    assert await asyncio.gather(*others) == [2, 4, 6, 6, None]
    assert work.runs == [{1}, {1, 2, 3, -1}]


async def test_one_caller_that_leaves_does_not_stop_the_others() -> None:
    work = Work()
    some = Batches(work)
    leaving, staying = (asyncio.ensure_future(some.get(1)) for _ in range(2))
    await begun(work)
    leaving.cancel()
    work.may.set()
    assert await staying == 2


async def test_there_is_a_bound_on_those_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_WAITING", 2)
    work = Work()
    some = Batches(work)
    waiting = [asyncio.ensure_future(some.get(0))]
    await begun(work)
    waiting += [asyncio.ensure_future(some.get(key)) for key in (1, 2)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyWaitingError):
        await some.get(3)
    work.may.set()
    assert await asyncio.gather(*waiting) == [0, 2, 4]


async def test_what_fails_fails_for_those_who_asked_and_not_for_the_next() -> None:
    def work(keys: Collection[int]) -> dict[int, int]:
        if 0 in keys:
            raise OSError("no")
        return dict.fromkeys(keys, 1)

    some: Batches[int, int] = Batches(work)
    with pytest.raises(OSError, match="no"):
        await some.get(0)
    assert await some.get(1) == 1


async def test_runs_get_no_more_than_their_share_in_the_long_run() -> None:
    some: Batches[int, int] = Batches(lambda keys: dict.fromkeys(keys, 1))
    assert some._pause_s() == 0.0
    some._left_s = -1.0
    assert some._pause_s() == pytest.approx(1.0 / batches.SHARE, rel=0.1)
