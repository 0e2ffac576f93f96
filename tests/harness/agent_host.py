"""A host in miniature: starts an agent that speaks stream-json and reads with a deadline."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

from flybridge.agents.demo.options import Options
from flybridge.agents.demo.stream import Session, Speaker
from tests.harness.line_process import Json, LineProcess

Reply: TypeAlias = Callable[[Json], Json]

FLAGS = (
    *("--output-format", "stream-json", "--input-format", "stream-json", "--verbose"),
    *("--include-partial-messages", "--permission-prompt-tool", "stdio"),
    "--replay-user-messages",
)
DEMO = (sys.executable, "-m", "flybridge.agents.demo")


class Host(LineProcess):
    """A host of one agent; use it as a context."""

    def __init__(
        self,
        argv: Sequence[str] = DEMO,
        *flags: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        speed: str = "0",
    ) -> None:
        given = {**os.environ, "FLYBRIDGE_DEMO_SPEED": speed, **(env or {})}
        super().__init__([*argv, *FLAGS, *flags], cwd=cwd, env=given)

    # ---- towards the agent ---------------------------------------------------------------------

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

    # ---- from the agent ------------------------------------------------------------------------

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


class Said:
    """``messages`` are all that ``speaker`` wrote so far."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        session = Session(id="s1", cwd="/somewhere", model="m", mode="default")
        self.speaker = Speaker(session, Options(session_id="s1"), fd=self._file.fileno())

    @property
    def messages(self) -> list[Json]:
        self._file.seek(0)
        return [json.loads(line) for line in self._file]

    @property
    def subtypes(self) -> list[str]:
        return [str(message.get("subtype", message["type"])) for message in self.messages]
