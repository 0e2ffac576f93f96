"""Real keepers for tests, none of which outlives its test."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from flybridge.runtime.keeper.client import (
    Exit,
    Hello,
    KeeperLink,
)
from flybridge.runtime.keeper.process import alive, start_time
from flybridge.runtime.keeper.start import KeeperSpec, StartedKeeper, start_keeper
from tests.harness.keeper_bench import SECRET
from tests.harness.waiting import WAIT_S, until


class Heard:
    """Listens to a link and remembers; ``until`` waits for something to be so."""

    def __init__(self) -> None:
        self.output = b""
        self.output_at = -1
        self.calls = 0
        self.stderr = b""
        self.wrote = 0
        self.exit: Exit | None = None
        self.lost = ""
        self._news = asyncio.Event()

    def on_output(self, offset: int, data: bytes) -> None:
        if self.output_at < 0:
            self.output_at = offset
        assert offset == self.output_at + len(self.output)
        self.output += data
        self.calls += 1
        self._news.set()

    def on_stderr(self, data: bytes) -> None:
        self.stderr += data
        self._news.set()

    def on_wrote(self, number: int) -> None:
        self.wrote = number
        self._news.set()

    def on_exit(self, exit: Exit) -> None:
        assert len(self.output) == exit.out_to - max(0, self.output_at)
        self.exit = exit
        self._news.set()

    def on_lost(self, reason: str) -> None:
        assert not self.lost
        self.lost = reason
        self._news.set()

    async def until(self, fact: Callable[[], object]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not fact():
                self._news.clear()
                await self._news.wait()


class Keepers:
    """Starts keepers with ``start_keeper`` and leaves none behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[StartedKeeper] = []
        self._links: list[KeeperLink] = []
        self._count = 0

    def spec(self, argv: list[str], **changed: Any) -> KeeperSpec:
        self._count += 1
        name = f"inc_{os.getpid()}_{id(self)}_{self._count}"
        told: dict[str, Any] = {
            "argv": tuple(argv),
            "env": {"PATH": os.environ["PATH"]},
            "cwd": str(self.folder),
            "incarnation": name,
            "secret": SECRET,
            "socket": str(self.folder / f"{self._count}.sock"),
            "hello_s": 10,
        }
        return KeeperSpec(**{**told, **changed})

    async def start(self, argv: list[str], **changed: Any) -> KeeperSpec:
        spec = self.spec(argv, **changed)
        self.started.append(await start_keeper(spec))
        return spec

    async def link(self, spec: KeeperSpec, **changed: Any) -> tuple[KeeperLink, Heard]:
        heard = Heard()
        hello = Hello(**{"generation": 1, "secret": SECRET, "after": 0, **changed})
        link = await KeeperLink.connect(spec.socket, hello, heard)
        self._links.append(link)
        return link, heard

    async def close(self) -> None:
        for link in self._links:
            link.close()
        for one in self.started:
            if alive(one.pid, one.start):
                with suppress(ProcessLookupError):  # it may end meanwhile
                    os.kill(one.pid, signal.SIGTERM)
                    os.kill(one.pid, signal.SIGKILL)
            await reaped(one.pid)


async def reaped(pid: int) -> None:
    await until(lambda: start_time(pid) is None, f"the end of process {pid}")
