"""Pipes in threads."""

from __future__ import annotations

import asyncio
import os

from flybridge.cli.runs.streams import MAX_UNWRITTEN, InputThread, OutputThread


async def test_everything_that_is_read_is_handed_over_in_order() -> None:
    read, write = os.pipe()
    got: asyncio.Queue[bytes] = asyncio.Queue(maxsize=1)
    InputThread(read, got.put)
    os.write(write, b"one")
    assert await got.get() == b"one"
    os.write(write, b"two")
    assert await got.get() == b"two"
    os.close(write)
    assert await got.get() == b""
    os.close(read)


async def test_a_reader_that_stands_still_holds_back_only_who_waits_for_it() -> None:
    read, write = os.pipe()
    out = OutputThread(write, lambda: None)
    out.put(b"x" * (MAX_UNWRITTEN + 1))
    waiting = asyncio.create_task(out.drained())
    await asyncio.sleep(0)
    assert not waiting.done()
    left = MAX_UNWRITTEN + 1
    while left:
        left -= len(await asyncio.to_thread(os.read, read, 1 << 16))
    await waiting
    await out.drained(0)
    out.put(b"")
    os.close(read)
    os.close(write)


async def test_a_reader_that_is_gone_is_told_of() -> None:
    read, write = os.pipe()
    told = asyncio.Event()
    out = OutputThread(write, told.set)
    os.close(read)
    out.put(b"x")
    await told.wait()
    assert out.broken
    out.put(b"y")
    await out.drained(0)
    os.close(write)
