"""One conversation with a real CLI, through the gateway, as a test looks at it."""

from __future__ import annotations

import asyncio
import base64
import json
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from msgspec import UNSET, Raw

from flybridge.client.gateway import Client
from flybridge.client.items import EventItem, GaugeItem, PreviewItem
from flybridge.client.transcript import Transcript
from flybridge.errors import FlybridgeError
from flybridge.model import events as ev
from flybridge.model.commands import (
    AnswerPermission,
    AnswerQuestion,
    Command,
    Place,
    SendInput,
)
from flybridge.model.content import Text
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.ids import InputKey, PromptId
from tests.agents.rig import Bridge
from tests.harness.waiting import WAIT_S, until_file

E = TypeVar("E", bound=ev.Event)


def scripted(text: str, *answers: object) -> str:
    """A prompt that says what the model answers to it."""
    return f"{text}\n@@ {json.dumps(answers)}" if answers else text


def bash(command: str, **more: object) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a test", **more}}


def waiting(mark: Path, go: Path, **more: object) -> dict[str, object]:
    """A tool that has to ask first, says that it runs, and runs until it is let go."""
    return bash(f"echo x >>{mark}; while [ ! -e {go} ]; do sleep 0.05; done", **more)


def results(bridge: Bridge, needle: str) -> list[dict[str, Any]]:
    """The tool results in the newest request of the conversation that holds these words."""
    about = [one for one in bridge.api.turns if any(needle in text for text in one.given())]
    return about[-1].blocks("tool_result")


class Talk:
    """A session, and everything that has happened in it so far."""

    def __init__(self, bridge: Bridge, client: Client, session: str) -> None:
        self.bridge = bridge
        self.client = client
        self.session = session
        self.events: list[ev.Event] = []
        self.transcript = Transcript()
        self.seen: dict[str, int] = {}  # item → how many deltas of it were shown
        self.gauges: dict[str, bytes] = {}
        self._news = asyncio.Condition()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, bridge: Bridge, *, cwd: Path | None = None, **wanted: Any) -> Self:
        """A new session; ``wanted`` is what else is asked of ``Client.open``."""
        client = await bridge.client()
        how = {"agent": "claude", "cwd": cwd or bridge.claude.cwd, **wanted}
        try:
            return cls(bridge, client, await client.open(**how))
        except FlybridgeError:
            await client.close()
            raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            for one in self.events:
                error.add_note(repr(one)[:400])
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        try:
            await self.client.ask("stop_agent", {"session": self.session})
        finally:
            await self.client.close()
        if error is None:  # whatever a real agent does by itself or by our command is no alarm
            assert self.all(ev.AlarmRaised) == []

    async def _read(self) -> None:
        async with self.client.watch(self.session) as items:
            async for item in items:
                self.transcript.apply(item)
                if isinstance(item, PreviewItem):
                    self.seen[item.item] = max(item.upto, self.seen.get(item.item, 0))
                elif isinstance(item, GaugeItem):
                    self.gauges[item.name] = item.value
                elif isinstance(item, EventItem):
                    assert item.event is not None, item.raw
                    self.events.append(item.event)
                async with self._news:
                    self._news.notify_all()

    # ---- what happens ------------------------------------------------------------------------

    def all(self, kind: type[E]) -> list[E]:
        return [one for one in self.events if isinstance(one, kind)]

    async def get(
        self, kind: type[E], n: int = 1, where: Callable[[E], bool] = lambda event: True
    ) -> E:
        """The n-th event of a kind, as soon as it is there."""

        def found() -> list[E]:
            return [one for one in self.all(kind) if where(one)]

        await self.until(lambda: len(found()) >= n, f"{kind.__name__} {n}")
        return found()[n - 1]

    async def until(self, is_so: Callable[[], bool], what: str = "") -> None:
        """Wait for something that only news of this session can make true.

        Raises:
            AssertionError: it is not so in time, or the session cannot be followed.
        """
        try:
            async with asyncio.timeout(WAIT_S), self._news:
                while not is_so():
                    assert not self._reader.done(), self._reader
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never came: {what}") from None

    async def made(self, path: Path) -> None:
        """Wait until a tool has made this file."""
        await until_file(path)

    async def outcome(self, request: str) -> str:
        """What became of an input."""
        event = await self.get(ev.InputOutcome, where=lambda one: one.key.endswith(request))
        return event.outcome

    async def written(self, request: str) -> None:
        """Wait until the CLI was handed an input."""
        await self.get(ev.InputWritten, where=lambda one: one.key.endswith(request))

    async def streamed(self, text: str) -> None:
        """Wait until the open text of the session has come so far."""
        await self.until(lambda: self.transcript.text.endswith(text), f"the text {text!r}")

    async def whole(self, done: ev.TextDone | ev.ToolResult) -> str:
        """The whole text of an item, wherever it is kept."""
        if not done.blob:
            return done.text
        data = bytearray()
        while True:
            params = {"digest": done.blob, "start": len(data)}
            part = await self.client.ask("blob", params)
            data += base64.b64decode(part["data"])
            if len(data) >= part["size"]:
                return data.decode()

    def without_outcome(self) -> set[InputKey]:
        """Inputs that were accepted and of which nothing was said since."""
        accepted = {one.key for one in self.all(ev.InputAccepted)}
        return accepted - {one.key for one in self.all(ev.InputOutcome)}

    def unknown(self) -> list[str]:
        """What nobody understood: nothing, if all is well."""
        return [one.text[:300] for one in self.all(ev.Unrecognised)]

    # ---- what is asked for ---------------------------------------------------------------------

    async def say(
        self, text: str, *answers: object, mode: Literal["auto", "steer", "queue"] = "auto"
    ) -> str:
        """Send a prompt; returns its request id once the CLI was written to (or it is held)."""
        command = SendInput(content=(Text(scripted(text, *answers)),), mode=mode)
        return await self.submit(command, until=Stage.ACCEPTED)

    async def submit(self, command: Command, *, until: Stage = Stage.WRITTEN) -> str:
        request = str(uuid.uuid4())
        reply = await self.reply_to(command, request=request, until=until)
        assert reply.error in ("", "in_progress"), reply
        return request

    async def reply_to(
        self, command: Command, *, request: str, until: Stage = Stage.WRITTEN
    ) -> Reply:
        return await self.client.submit_reliably(
            self.session, command, request=request, until=until, wait_ms=20_000
        )

    async def settle(self, command: Command) -> str:
        """Ask the agent for a setting; what became of that."""
        await self.get(ev.AgentConnected)
        request = str(uuid.uuid4())
        await self.reply_to(command, request=request, until=Stage.DONE)
        return await self.outcome(request)

    async def turn(self, text: str, *answers: object) -> ev.TurnEnded:
        """A whole turn: the prompt is said, and done with."""
        turns = len(self.all(ev.TurnEnded))
        request = await self.say(text, *answers)
        await self.outcome(request)
        return await self.get(ev.TurnEnded, turns + 1)

    async def decide(
        self,
        prompt: ev.PermissionRequested,
        decision: Literal["allow", "deny"],
        *,
        message: str = "",
        stop: bool = False,
        updated: Mapping[str, object] | None = None,
        remember: tuple[int, ...] = (),
        place: Place = "session",
    ) -> str:
        return await self.submit(
            AnswerPermission(
                prompt=prompt.prompt,
                digest=prompt.digest,
                decision=decision,
                message=message,
                stop=stop,
                updated_input=UNSET if updated is None else Raw(json.dumps(updated).encode()),
                remember=remember,
                place=place,
            )
        )

    async def answer(
        self, question: ev.QuestionRequested, answers: dict[str, tuple[str, ...]]
    ) -> str:
        prompt = PromptId(question.prompt)
        return await self.submit(
            AnswerQuestion(prompt=prompt, digest=question.digest, answers=answers)
        )
