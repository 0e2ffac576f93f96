"""A host in miniature: starts an agent that speaks stream-json and reads with a deadline."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]
Reply: TypeAlias = Callable[[Json], Json]

DEADLINE_S = 20.0
FLAGS = (
    *("--output-format", "stream-json", "--input-format", "stream-json", "--verbose"),
    *("--include-partial-messages", "--permission-prompt-tool", "stdio"),
    "--replay-user-messages",
)
DEMO = (sys.executable, "-m", "flybridge.demo")


class Host:
    """Use as a context; what is still alive at its end is killed, and only that."""

    def __init__(
        self,
        argv: Sequence[str] = DEMO,
        *flags: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        speed: str = "0",
    ) -> None:
        self.process = subprocess.Popen(
            [*argv, *FLAGS, *flags],
            cwd=cwd,
            env={**os.environ, "FLYBRIDGE_DEMO_SPEED": speed, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.raw: list[bytes] = []
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._err: list[bytes] = []
        self._threads = [
            threading.Thread(target=self._pump, daemon=True),
            threading.Thread(target=self._drain, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _pump(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _drain(self) -> None:
        assert self.process.stderr
        self._err.extend(iter(lambda: os.read(self.process.stderr.fileno(), 65536), b""))  # type: ignore[union-attr]

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE_S)
        for thread in self._threads:
            thread.join(DEADLINE_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            try:
                pipe.close()
            except BrokenPipeError:
                pass

    # ---- towards the agent ---------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def prompt(self, text: str, uuid: str = "") -> None:
        message: Json = {"type": "user", "message": {"role": "user", "content": text}}
        self.send({**message, "uuid": uuid} if uuid else message)

    def request(self, subtype: str, request_id: str = "r1", **more: Any) -> None:
        body = {"subtype": subtype, **more}
        self.send({"type": "control_request", "request_id": request_id, "request": body})

    def ask(self, subtype: str, **more: Any) -> Json:
        """Send a control request and return the body of its answer."""
        self.request(subtype, **more)
        body: Json = self.until(kind("control_response"))[-1]["response"]
        return body

    def answer(self, request_id: str, **response: object) -> None:
        body = {"subtype": "success", "request_id": request_id, "response": response}
        self.send({"type": "control_response", "response": body})

    def close_stdin(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    # ---- from the agent ------------------------------------------------------------------------

    def line(self) -> bytes:
        line = self._lines.get(timeout=DEADLINE_S)
        self.raw.append(line)
        return line

    def next(self) -> Json:
        line = self.line()
        assert line, f"stdout ended; stderr: {self.stderr()!r}"
        return parsed(line)

    def until(self, wanted: Callable[[Json], bool]) -> list[Json]:
        """Everything up to the first wanted message, that one included."""
        messages = [self.next()]
        while not wanted(messages[-1]):
            messages.append(self.next())
        return messages

    def turn(self, text: str, uuid: str = "") -> list[Json]:
        """Send a prompt and return what is said up to its result."""
        self.prompt(text, uuid)
        return self.until(kind("result"))

    def play(self, text: str, reply: Reply) -> list[Json]:
        """Send a prompt, answer whatever is asked meanwhile, and return what is said."""
        self.prompt(text)
        messages: list[Json] = []
        while not (messages and messages[-1]["type"] == "result"):
            messages.append(self.next())
            if messages[-1]["type"] == "control_request":
                self.answer(messages[-1]["request_id"], **reply(messages[-1]["request"]))
        return messages

    def rest(self) -> list[Json]:
        """Everything up to the end of stdout."""
        return [parsed(line) for line in iter(self.line, b"")]

    def exit_code(self) -> int:
        return self.process.wait(DEADLINE_S)

    def stderr(self) -> bytes:
        if self.process.poll() is not None:
            self._threads[1].join(DEADLINE_S)
        return b"".join(self._err)


def parsed(line: bytes) -> Json:
    """A message; a line that is none becomes one of its own type."""
    try:
        message: Json = json.loads(line)
    except ValueError:
        message = {"type": "noise", "line": line}
    return message


def allow(request: Json) -> Json:
    """Say yes to everything; of a question, choose the first answer."""
    given = request["input"]
    if request["tool_name"] == "AskUserQuestion":
        first = {one["question"]: one["options"][0]["label"] for one in given["questions"]}
        given = {**given, "answers": first}
    return {"behavior": "allow", "updatedInput": given}


def deny(request: Json) -> Json:
    return {"behavior": "deny", "message": "rather not"}


def results(messages: Sequence[Json]) -> list[Json]:
    """The messages that bring a tool's result."""
    return [m for m in messages if shape(m) == "user/tool_result"]


def asked(messages: Sequence[Json]) -> list[Json]:
    return [m["request"] for m in messages if m["type"] == "control_request"]


def kind(name: str) -> Callable[[Json], bool]:
    """Match a message by its shape, as :func:`shape` writes it, or by its type alone."""
    return lambda message: name in (shape(message), message["type"])


def shape(message: Json) -> str:
    match message["type"]:
        case "stream_event":
            event = message["event"]
            return str(event.get("delta", {}).get("type") or event["type"])
        case "system":
            return f"system/{message['subtype']}"
        case "assistant":
            return f"assistant/{message['message']['content'][0]['type']}"
        case "user":
            content = message["message"]["content"]
            block = "text" if isinstance(content, str) else content[0]["type"]
            return "replay" if message.get("isReplay") else f"user/{block}"
        case "command_lifecycle":
            return f"command/{message['state']}"
        case other:
            return str(other)


def shapes(messages: Sequence[Json]) -> list[str]:
    """The order of a turn, repeated deltas taken as one."""
    order: list[str] = []
    for message in messages:
        one = shape(message)
        if not (order and order[-1] == one and one.endswith("_delta")):
            order.append(one)
    return order


def spoken(messages: Sequence[Json]) -> str:
    """The text of all complete assistant blocks."""
    blocks = [m["message"]["content"][0] for m in messages if m["type"] == "assistant"]
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")
