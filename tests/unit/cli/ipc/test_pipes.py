"""Pipes that wait for nobody: what came, what was taken, and who is gone."""

from __future__ import annotations

import asyncio
import os

from flybridge.cli.ipc.pipes import Input, Output
from tests.harness.waiting import WAIT_S


async def test_what_is_written_comes_in_order_and_then_the_end() -> None:
    reading, writing = os.pipe()
    source = Input(reading)
    os.write(writing, b"one\n")
    assert await source.read() == b"one\n"
    os.close(writing)
    assert await source.read() == b""
    os.close(reading)


async def test_a_long_write_is_whole_and_the_loop_goes_on_meanwhile() -> None:
    reading, writing = os.pipe()
    target, data = Output(writing), b"x" * (1 << 20)
    task = asyncio.create_task(target.write(data))
    got = bytearray()
    while len(got) < len(data):  # a pipe holds far less than that
        got += await asyncio.to_thread(os.read, reading, 1 << 16)
    async with asyncio.timeout(WAIT_S):
        await task
    assert bytes(got) == data
    os.close(reading)
    async with asyncio.timeout(WAIT_S):
        await target.write(b"nobody reads this")
    assert target.gone.is_set()
    os.close(writing)


async def test_d07_a_reader_that_is_gone_is_noticed_without_a_write() -> None:
    reading, writing = os.pipe()
    output = Output(writing)
    assert not output.reader_is_gone()
    os.close(reading)
    assert output.reader_is_gone()
    os.close(writing)
