"""The demo agent's ears: what comes in on stdin, and which turn it concerns."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import msgspec

from flybridge.agents.demo.background import Job, Jobs
from flybridge.agents.demo.controls import Controls
from flybridge.agents.demo.options import Options
from flybridge.agents.demo.script import SCENES, play
from flybridge.agents.demo.stream import Json, Session, Speaker
from flybridge.agents.demo.turn import Message, Turn
from flybridge.wire.lines import CutLine, LineSplitter

MAX_LINE_BYTES = 32 * 2**20
MAX_WAITING = 1000
MAX_REMEMBERED = 10_000


class BadLineError(Exception):
    """A line the CLI would not survive either."""


class Agent:
    """Takes lines, answers control requests at once and plays messages one turn at a time."""

    def __init__(self, options: Options, *, cwd: str, fd: int = 1) -> None:
        session = Session(
            id=options.session_id,
            cwd=cwd,
            model=options.model,
            mode=options.mode,
            commands=[scene.name for scene in SCENES],
        )
        self._options = options
        self._session = session
        self._speaker = Speaker(session, options, fd=fd)
        self._jobs = Jobs(self._speaker, self._report)
        self._controls = Controls(self._speaker, self)
        self._splitter = LineSplitter(max_line=MAX_LINE_BYTES)
        self._waiting: deque[Message] = deque()
        self._seen: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._closed = False
        self._signalled = False
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None

    async def run(self) -> int:
        """Play turns until stdin ends and nothing waits; return the exit status."""
        while (message := await self._next()) is not None:
            await self._play(message)
        return int(self._session.last_failed and not self._signalled)

    async def _next(self) -> Message | None:
        while not self._waiting:
            if self._closed:
                return None
            self._wake.clear()
            await self._wake.wait()
        return self._waiting.popleft()

    async def _play(self, message: Message) -> None:
        pace_s = 0.0 if self._session.model.endswith("-fast") else self._options.pace_s
        turn = self._turn = Turn(self._speaker, message, self._jobs, pace_s=pace_s)
        turn.permissions.hung_up = self._closed
        turn.open()
        self._task = asyncio.create_task(play(turn))
        try:
            await self._task
            turn.finish()
        except asyncio.CancelledError:
            turn.abort()
        finally:
            self._turn = self._task = None

    def _report(self, job: Job) -> None:
        """Work in the background is done: a turn nobody asked for."""
        origin = {"kind": "task-notification", "producer": "session-task", "runId": job.run}
        if not self._closed:
            self._waiting.append(Message(job.report, "", origin))
            self._wake.set()

    # ---- stdin -----------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Take what was read.

        Raises:
            BadLineError: a line ends the conversation, as it would end the CLI's.
        """
        for line in self._splitter.receive(data):
            self._take(line)

    def end(self) -> None:
        """Stdin is closed: the turn and what waits are finished, open prompts refused."""
        self._closed = True
        self._wake.set()
        if self._turn:
            self._turn.permissions.hang_up()

    def signalled(self) -> None:
        """SIGINT: stop the turn, say so, and go."""
        self._signalled = True
        self._waiting.clear()
        self.stop()
        self.end()

    def _take(self, line: bytes) -> None:
        if type(line) is CutLine:
            raise BadLineError(f"line longer than {MAX_LINE_BYTES} bytes")
        line = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not line:
            return
        try:
            message = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise BadLineError(f"not JSON: {error}") from error
        if message is None:
            raise BadLineError("null is not a message")
        if not isinstance(message, dict):
            return
        match message.get("type"):
            case "user":
                self._user(message)
            case "control_request":
                self._asked(message)
            case "control_response":
                self._answered(message)

    def _user(self, message: Json) -> None:
        body = message.get("message")
        if not isinstance(body, dict) or body.get("role") != "user":
            raise BadLineError("a user message needs a message whose role is user")
        content = body.get("content", "")
        given = message.get("uuid")
        one = Message(_content(content), given if isinstance(given, str) else "")
        if one.uuid and one.uuid in self._seen:
            self._speaker.replay(content, one.uuid)  # echoed, never run again
            return
        if len(self._waiting) >= MAX_WAITING:
            self._speaker.lifecycle(one.uuid, "refused")
            return
        self._remember(one.uuid)
        self._speaker.lifecycle(one.uuid, "queued")
        self._waiting.append(one)
        self._wake.set()

    def _remember(self, given: str) -> None:
        if given:
            self._seen[given] = None
        if len(self._seen) > MAX_REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def _answered(self, message: Json) -> None:
        response = message.get("response")
        if not isinstance(response, dict) or self._turn is None:
            return
        permissions = self._turn.permissions
        request_id = str(response.get("request_id"))
        if request_id not in permissions.prompts:
            return  # late, repeated or not ours: the first answer won
        if self._options.replay:
            self._speaker.write(message)
        answer = _answer(response)
        if answer.get("behavior") == "deny" and answer.get("interrupt") is True:
            permissions.refused(request_id)
            self.stop()
        else:
            permissions.answered(request_id, answer)

    def _asked(self, message: Json) -> None:
        request = message.get("request")
        if not isinstance(request, dict):
            raise BadLineError("a control request needs a request")
        self._controls.answer(request, str(message.get("request_id")))

    # ---- what control requests ask for -----------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._turn is not None

    @property
    def prompts(self) -> list[Json]:
        open_prompts = self._turn.permissions.prompts.values() if self._turn else ()
        return [prompt.wire() for prompt in open_prompts]

    @property
    def waiting(self) -> list[str]:
        """The uuids of the messages whose turn has not come."""
        return [message.uuid for message in self._waiting if message.uuid]

    def drop(self, only: str | None = None) -> list[str]:
        """Forget one waiting message, or all that people sent; the uuids of those."""
        gone = [m for m in self._waiting if m.origin is None and only in (None, m.uuid)]
        self._waiting = deque(message for message in self._waiting if message not in gone)
        for message in gone:
            self._speaker.lifecycle(message.uuid, "cancelled")
        return [message.uuid for message in gone if message.uuid]

    def stop(self) -> None:
        """Cancel the task that plays the turn; how it ends is said later, by ``_play``."""
        for prompt in self._turn.permissions.prompts if self._turn else ():
            self._speaker.cancel(prompt)
        if self._task:
            self._task.cancel()

    def stop_job(self, job: str | None = None) -> None:
        """End one piece of work in the background, or all of it."""
        if job is None:
            self._jobs.stop_all()
        else:
            self._jobs.stop(job)


def _content(content: Any) -> str | list[Json]:
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return content if isinstance(content, str) else ""


def _answer(response: Json) -> Json:
    """A permission answer; an error reply, or one without a body, denies."""
    if response.get("subtype") == "error":
        text = f"Tool permission request failed: {response.get('error')}"
        return {"behavior": "deny", "message": text}
    answer = response.get("response")
    return answer if isinstance(answer, dict) else {}
