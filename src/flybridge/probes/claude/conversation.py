"""A real CLI and our own driver, with nothing in between; every wait ends at a deadline."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar
from uuid import uuid4

from msgspec import UNSET, Raw

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model import commands as c
from flybridge.model.capabilities import Capabilities, OpenSpec
from flybridge.model.content import Text
from flybridge.model.facts import (
    InputConfirmed,
    InputEchoed,
    InputRejected,
    PermissionAsked,
    TurnOver,
)
from flybridge.model.ids import IncarnationId, InputKey, SessionId
from flybridge.model.queries import RAW
from flybridge.probes.claude.fields import Fields
from flybridge.probes.claude.world import Life, World
from flybridge.session.ports import Out
from flybridge.wire.lines import LineSplitter

SESSION = SessionId("ses_probe")
LIFE = IncarnationId("inc_probe")
CHUNK = 1 << 16
MAX_OUT = 100_000  # things a CLI may say in one life
MAX_LINE_BYTES = 8 * 2**20
STDERR_BYTES = 2000
GONE_S = 1.0
END_S = 5.0  # for an input whose turn is over
LINE_END = "\n"
T = TypeVar("T")


class NotSeenError(Exception):
    """What a probe waited for did not come; the text says what, and what happened instead."""


def scripted(text: str, *answers: object) -> str:
    """A prompt that says what the model answers to it."""
    return f"{text}\n@@ {json.dumps(answers)}" if answers else text


class Conversation:
    """One life of a CLI. Probes look at what came since :meth:`begin`.

    ``out`` is what the driver made of the CLI's lines, ``lines`` are those lines themselves.
    """

    def __init__(
        self, world: World, spec: OpenSpec, capabilities: Capabilities, fields: Fields
    ) -> None:
        agent = ClaudeAgent(program=world.argv)
        self.spec = spec
        self.out: list[Out] = []
        self.lines: list[bytes] = []
        self.init = b""  # the last line in which it introduced itself
        self.deadline = 0.0
        self._fields = fields
        self._ended = False
        self._stderr: deque[bytes] = deque(maxlen=4)
        self._splitter = LineSplitter(max_line=MAX_LINE_BYTES)
        self.driver = agent.driver(capabilities)
        self.driver.attach(SESSION, LIFE, spec, b"")
        launch = agent.launch(spec, capabilities)
        self._life = Life(world, launch.argv, env=launch.env)
        try:
            self._watch()
            self.driver.connected(_now_ms())
            self._take()
        except BaseException:  # it may be gone already; nobody else could end what is left
            self._life.end()
            raise

    def _watch(self) -> None:
        process = self._life.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._stdin = process.stdin
        os.set_blocking(self._stdin.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(process.stdout, selectors.EVENT_READ, self._hear)
        self._selector.register(process.stderr, selectors.EVENT_READ, self._hear_trouble)

    def begin(self, deadline: float) -> None:
        """A probe begins: what was before is none of its business."""
        self.out.clear()
        self.lines.clear()
        self.deadline = deadline

    def close(self) -> None:
        """End the process, whatever it does."""
        self._selector.close()
        self._life.end()

    # ---- what we say -----------------------------------------------------------------------------

    def say(self, text: str, *answers: object) -> InputKey:
        return self.send(c.SendInput(content=(Text(scripted(text, *answers)),)))

    def send(self, command: c.Command, key: str = "") -> InputKey:
        """Have the driver say it; a key that was used before names the same input again."""
        name = InputKey(key or f"probe:{uuid4()}")
        self.driver.send(SESSION, command, name, _now_ms())
        self._take()
        return name

    def write(self, line: bytes) -> None:
        """Write one line to the CLI.

        Raises:
            NotSeenError: it does not take it.
        """
        try:
            if os.write(self._stdin.fileno(), line + b"\n") <= len(line):
                raise NotSeenError("it stopped reading its input")
        except BlockingIOError:
            raise NotSeenError("it does not read its input") from None
        except (BrokenPipeError, ValueError):
            raise NotSeenError(f"it takes no more input{self._why()}") from None

    def end_input(self) -> None:
        self._stdin.close()

    def query(self, name: str) -> None:
        self.driver.query(SESSION, name, RAW + name, Raw(b"{}"), _now_ms())
        self._take()

    def decide(
        self,
        asked: PermissionAsked,
        decision: Literal["allow", "deny"],
        *,
        message: str = "",
        updated: Mapping[str, object] | None = None,
    ) -> None:
        given = UNSET if updated is None else Raw(json.dumps(updated).encode())
        self.send(
            c.AnswerPermission(
                prompt=asked.prompt,
                digest="",
                decision=decision,
                message=message,
                updated_input=given,
            )
        )

    def settle(self, command: c.Command) -> str:
        """Ask for a setting; why it was refused, or nothing."""
        key = self.send(command)

        def refused() -> list[str]:
            return [one.reason or "?" for one in self.all(InputRejected) if one.key == key]

        def obeyed() -> bool:
            return any(one.key == key for one in self.all(InputConfirmed))

        self.until(lambda: obeyed() or bool(refused()), f"an answer to {type(command).__name__}")
        return "; ".join(refused())

    def turn(self, text: str, *answers: object) -> TurnOver:
        """Send a prompt; wait until the turn is over and the prompt itself has ended.

        A session runs until both have happened: a prompt that the driver cannot match with any
        turn would keep it running for ever.

        Raises:
            NotSeenError: there was no turn, or the prompt never ended.
        """
        before = len(self.all(TurnOver))
        key = self.say(text, *answers)
        over = self.get(TurnOver, before + 1)
        if not self.is_seen(lambda: self.has_ended(key), END_S):
            raise NotSeenError(f"{text.partition(LINE_END)[0][:40]} never ends")
        return over

    def has_ended(self, key: InputKey) -> bool:
        """Return whether the driver knows what became of an input."""
        ended: list[InputEchoed | InputRejected] = [
            *self.all(InputEchoed),
            *self.all(InputRejected),
        ]
        return any(fact.key == key for fact in ended)

    # ---- what it says ----------------------------------------------------------------------------

    def all(self, *kinds: type[T]) -> list[T]:
        return [one for one in self.out if isinstance(one, kinds)]

    def get(self, kind: type[T], n: int = 1, where: Callable[[T], bool] = lambda what: True) -> T:
        """The n-th of a kind, as soon as it is there."""

        def found() -> list[T]:
            return [one for one in self.all(kind) if where(one)]

        self.until(lambda: len(found()) >= n, kind.__name__)
        return found()[n - 1]

    def prompt(self, kind: type[T]) -> T:
        """The first prompt of a turn.

        Raises:
            NotSeenError: the turn is over, and nobody was asked.
        """
        self.until(lambda: bool(self.all(kind) or self.all(TurnOver)), "a prompt")
        if not self.all(kind):
            raise NotSeenError("nobody was asked")
        return self.all(kind)[0]

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        """Wait for something that only the CLI can make true.

        Raises:
            NotSeenError: it does not come in time, or the CLI is gone.
        """
        while not is_so():
            if self._ended:
                raise NotSeenError(f"{what} did not come{self._why()}")
            if time.monotonic() > self.deadline:
                raise NotSeenError(f"{what} did not come in time")
            self._read()

    def is_seen(self, is_so: Callable[[], bool], within_s: float) -> bool:
        """Whether something comes in so much time; for what need not come."""
        whole, self.deadline = self.deadline, min(self.deadline, time.monotonic() + within_s)
        try:
            self.until(is_so, "")
        except NotSeenError:
            return False
        finally:
            self.deadline = whole
        return True

    def exit_status(self) -> int:
        """Wait for its end."""
        self.until(lambda: self._ended, "its end")
        return self._life.process.wait(max(0.1, self.deadline - time.monotonic()))

    def _read(self) -> None:
        for key, _ in self._selector.select(0.02):
            data = os.read(key.fd, CHUNK)
            if data:
                key.data(data)
            else:
                self._selector.unregister(key.fileobj)
        self._ended = not self._selector.get_map()
        self._tick()

    def _hear(self, data: bytes) -> None:
        lines = self._splitter.receive(data)
        for line in lines:
            if self._fields.note(line) == "system/init":
                self.init = line
        self.lines += lines
        self.driver.receive(lines, _now_ms())
        self._take()
        if len(self.lines) > MAX_OUT or len(self.out) > MAX_OUT:
            raise NotSeenError("it does not stop talking")

    def _hear_trouble(self, data: bytes) -> None:
        self._stderr.append(data[-STDERR_BYTES:])

    def _take(self) -> None:
        output = self.driver.take()
        self.out += [what for _, what in output.out]
        self._fields.keep([what for _, what in output.out])
        for line in output.lines:
            self.write(line.data)

    def _tick(self) -> None:
        due = self.driver.deadline_ms
        if due is not None and due <= _now_ms():
            self.driver.tick(_now_ms())
            self._take()

    def _why(self) -> str:
        """Why it is gone, as far as it said."""
        try:  # its pipes are closed a moment before it is gone
            status: int | None = self._life.process.wait(GONE_S if self._ended else 0)
        except subprocess.TimeoutExpired:
            status = None
        said = b"".join(self._stderr).decode(errors="replace").strip().splitlines()
        ended = "" if status is None else f": it ended with status {status}"
        return f"{ended}: {said[-1][:200]}" if said else ended


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
