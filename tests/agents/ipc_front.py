"""A front end of ``flybridge ipc``, as a test drives it: NDJSON to a real process and back."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from flybridge.frontends.ipc.wire.lines import read_outbound
from tests.agents.rig import Bridge
from tests.agents.talk import scripted
from tests.harness.waiting import WAIT_S

LIMIT = 64 << 20
Json: TypeAlias = dict[str, Any]


class Front:
    """What was written so far is in ``seen``; ``at`` marks where the last wait ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen: list[Json] = []
        self.errors: list[str] = []
        self._taken = 0
        self._news = asyncio.Condition()
        self._tasks = [
            asyncio.create_task(self._read()),
            asyncio.create_task(self._read_errors()),
        ]

    @classmethod
    async def start(
        cls, bridge: Bridge, cwd: Path | None = None, *flags: str, greet: bool = True
    ) -> Self:
        await (await bridge.client()).close()  # else the bridge would start a gateway of its own
        process = await asyncio.create_subprocess_exec(
            *bridge.argv("ipc", "--dir", str(cwd or bridge.claude.cwd), *flags),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=bridge.env,
            limit=LIMIT,
            start_new_session=True,  # without a terminal, as an app starts it
        )
        front = cls(process)
        if greet:
            front.send({"type": "protocol_init", "version": 1})
            await front.next("session_init")
        return front

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            for one in (*self.seen, *self.errors):
                error.add_note(str(one)[:400])
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self.process.wait(), WAIT_S)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()
                raise
        await asyncio.gather(*self._tasks)
        for stream in (self.process.stdin,):
            if stream is not None:
                stream.close()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            read_outbound(line)  # nothing but messages, ever
            async with self._news:
                self.seen.append(json.loads(line))
                self._news.notify_all()
        async with self._news:
            self._news.notify_all()

    async def _read_errors(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.errors.append(line.decode())

    # ---- what is said --------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)

    def end_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def say(self, text: str, *answers: object, attachments: Sequence[Json] = ()) -> None:
        message = {"type": "user_message", "text": scripted(text, *answers)}
        self.send({**message, "attachments": list(attachments)})

    # ---- what comes ----------------------------------------------------------------------------

    async def next(self, kind: str, where: Callable[[Json], bool] = lambda one: True) -> Json:
        """The next message of this type, after the one that the last wait ended with."""
        try:
            async with asyncio.timeout(WAIT_S), self._news:
                while True:
                    for index in range(self._taken, len(self.seen)):
                        one = self.seen[index]
                        if one["type"] == kind and where(one):
                            self._taken = index + 1
                            return one
                    assert not self._tasks[0].done(), f"ended before {kind}"
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never came: {kind}") from None

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until what was seen so far is enough."""
        try:
            async with asyncio.timeout(WAIT_S), self._news:
                while not is_so():
                    assert not self._tasks[0].done(), "it ended"
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError("never came") from None

    async def turn(self, text: str, *answers: object) -> list[Json]:
        """A whole turn: everything that came since it was asked for."""
        begin = self._taken
        self.say(text, *answers)
        await self.next("turn_complete")
        return self.seen[begin : self._taken]

    async def settle(self) -> None:
        """Let a little time pass, for something outside that a test polls for."""
        await asyncio.sleep(0.02)

    async def ended(self) -> int:
        return await asyncio.wait_for(self.process.wait(), WAIT_S)


def kinds(messages: Sequence[Json]) -> list[str]:
    """The types in order; pieces of one text, or of one thought, count as one."""
    found: list[str] = []
    for one in messages:
        kind = one["type"]
        if kind in ("assistant_text", "thinking_text"):
            kind += "" if one["is_partial"] else "/complete"
            if one["is_partial"] and found[-1:] == [kind]:
                continue
        found.append(kind)
    return found
