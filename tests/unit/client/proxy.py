"""Stands between a client and a gateway: passes bytes on, slowly, and cuts where it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

from flybridge.config.state_dir import StateDir
from tests.harness.waiting import WAIT_S

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """``budgets``: how many bytes each coming connection may bring to the client; none left:
    no limit. ``chunk``: how many go at once."""

    def __init__(self, dial: Callable[[], Awaitable[Streams]]) -> None:
        self.budgets: list[int] = []
        self.chunk = 65536
        self.connections = 0
        self.passed: list[int] = []  # bytes that each connection brought
        self._dial = dial
        self._writers: set[asyncio.StreamWriter] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        budget = self.budgets.pop(0) if self.budgets else None
        number = len(self.passed)
        self.passed.append(0)
        try:
            inner_reader, inner_writer = await self._dial()
        except OSError:  # nobody there: for the client it is the same
            writer.close()
            return
        self._writers |= {writer, inner_writer}
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, inner_writer, None, -1))
                both.create_task(self._pass(inner_reader, writer, budget, number))
        except* (ConnectionError, _CutError):
            pass
        finally:
            for one in (writer, inner_writer):
                self._writers.discard(one)
                one.transport.abort()

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        budget: int | None,
        number: int,
    ) -> None:
        while data := await reader.read(self.chunk):
            if number >= 0:
                self.passed[number] += len(data)
            if budget is not None:
                data, budget = data[:budget], max(budget - len(data), 0)
            writer.write(data)
            await writer.drain()
            if budget == 0:
                break
        raise _CutError

    def cut(self) -> None:
        """Every connection ends here and now."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def gone(self) -> None:
        async with asyncio.timeout(WAIT_S):
            while self._writers:
                await asyncio.sleep(0.002)


class _CutError(Exception):
    """This side has nothing more to say, or may not say more."""


@asynccontextmanager
async def before_socket(state: StateDir, target: StateDir) -> AsyncIterator[Proxy]:
    """A state directory whose socket leads to another one's."""
    proxy = Proxy(lambda: asyncio.open_unix_connection(str(target.socket)))
    state.prepare()
    server = await asyncio.start_unix_server(proxy.serve, str(state.socket))
    async with _closing(server, proxy):
        yield proxy


@asynccontextmanager
async def before_port(port: int) -> AsyncIterator[tuple[Proxy, int]]:
    """A port that leads to another one."""
    proxy = Proxy(lambda: asyncio.open_connection("127.0.0.1", port))
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    async with _closing(server, proxy):
        yield proxy, server.sockets[0].getsockname()[1]


@asynccontextmanager
async def _closing(server: asyncio.Server, proxy: Proxy) -> AsyncIterator[None]:
    try:
        yield
    finally:
        server.close()
        proxy.cut()
        await proxy.gone()
        await server.wait_closed()
