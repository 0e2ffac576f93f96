"""The bounded queue of one attachment."""

from __future__ import annotations

import asyncio

import pytest

from flybridge.client.transport.feed import FULL_BYTES, LAGGED_BYTES, Feed
from flybridge.errors import GatewayUnreachableError
from flybridge.wire.native.messages import PreviewLine


def line(text: str) -> PreviewLine:
    return PreviewLine(session="s", item="i", since=0, upto=1, text=text)


async def test_lines_come_out_in_order_and_then_the_end() -> None:
    feed = Feed("s", lambda: None)
    feed.put(line("a"), 1)
    feed.put(line("b"), 1)
    feed.end(GatewayUnreachableError("gone"))
    feed.end(GatewayUnreachableError("said twice"))
    assert [await feed.get(), await feed.get()] == [line("a"), line("b")]
    for _ in range(2):
        with pytest.raises(GatewayUnreachableError, match="gone"):
            await feed.get()


async def test_a_reader_waits_for_what_comes() -> None:
    feed = Feed("s", lambda: None)
    async with asyncio.TaskGroup() as group:
        got = group.create_task(feed.get())
        group.create_task(_put(feed))
    assert got.result() == line("later")


async def _put(feed: Feed) -> None:
    feed.put(line("later"), 1)


async def test_a_cancelled_reader_loses_nothing() -> None:
    feed = Feed("s", lambda: None)
    waiting = asyncio.create_task(feed.get())
    await asyncio.sleep(0)
    waiting.cancel()
    feed.put(line("a"), 1)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await feed.get() == line("a")


async def test_it_says_when_it_is_full_and_when_there_is_room_again() -> None:
    calls: list[bool] = []
    feed = Feed("s", lambda: calls.append(True))
    feed.put(line("big"), FULL_BYTES)
    feed.put(line("small"), 1)
    assert feed.full
    assert not feed.lagged
    await feed.get()
    assert not feed.full
    await feed.get()
    assert calls == [True]
    feed.put(line("flood"), LAGGED_BYTES)
    assert feed.lagged
