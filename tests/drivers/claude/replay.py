"""Recordings of the real CLI, put to our driver as if it had written the host's part.

The recorded host chose its own request ids and message uuids. A recording is walked through
once with a driver; wherever the driver writes another id than the host did, the CLI's later
lines are rewritten to use ours. What the driver wrote is kept beside what the host wrote.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from flybridge.drivers.claude.agent import ClaudeAgent
from flybridge.drivers.claude.driver import ClaudeDriver
from flybridge.model import commands as c
from flybridge.model.capabilities import OpenSpec
from flybridge.model.content import Content, Text
from flybridge.model.facts import PermissionAsked, QuestionAsked
from flybridge.model.ids import InputKey, PromptId
from flybridge.testing.drivers import (
    INCARNATION,
    NOW_MS,
    SESSION,
    Connected,
    Conversation,
    Heard,
    Step,
    Told,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "claude"
NAMES = sorted(f"{one.parent.name}/{one.stem}" for one in GOLDEN.glob("2.*/*.jsonl"))


class Recorded(msgspec.Struct, frozen=True):
    dir: str
    line: str


class Recording(msgspec.Struct, frozen=True):
    version: str
    scenario: str
    lines: tuple[Recorded, ...]

    def said(self) -> list[bytes]:
        """What the CLI wrote."""
        return [one.line.encode() for one in self.lines if one.dir == "out"]


class Written(msgspec.Struct, frozen=True):
    """What the recorded host wrote, and what our driver writes in its place."""

    host: dict[str, Any]
    ours: dict[str, Any]


def recording(name: str) -> Recording:
    header, *lines = (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    told = json.loads(header)
    recorded = tuple(msgspec.json.decode(line, type=Recorded) for line in lines)
    return Recording(told["version"], told["scenario"], recorded)


def driver_of(version: str) -> ClaudeDriver:
    agent = ClaudeAgent()
    return agent.driver(agent.capabilities(f"{version} (Claude Code)".encode()))


def attached(version: str = "2.1.325", memo: bytes = b"") -> ClaudeDriver:
    driver = driver_of(version)
    driver.attach(SESSION, INCARNATION, OpenSpec(agent="claude", cwd="/project"), memo)
    driver.take()
    return driver


def replayed(name: str) -> tuple[Conversation, list[Written]]:
    walk = _Walk(recording(name))
    return Conversation(name, tuple(walk.steps)), walk.written


class _Walk:
    def __init__(self, recorded: Recording) -> None:
        self.steps: list[Step] = []
        self.written: list[Written] = []
        self._driver = attached(recorded.version)
        self._ids: dict[str, str] = {}  # the host's → ours
        self._unnamed: list[tuple[Any, str]] = []  # prompts the host gave no uuid
        self._prompts: dict[str, PromptId] = {}
        self._asked: dict[str, dict[str, Any]] = {}
        for one in recorded.lines:
            if one.dir == "out":
                self._hear(one.line)
            else:
                self._tell(json.loads(one.line), len(self.steps))

    def _hear(self, line: str) -> None:
        said = json.loads(line)
        if said.get("isReplay"):
            self._name(said)
        for old, new in self._ids.items():
            line = line.replace(old, new)
        self._take(Heard(line.encode()))
        if said["type"] == "control_request":
            self._asked[said["request_id"]] = said["request"]

    def _name(self, said: dict[str, Any]) -> None:
        for at, (content, uuid) in enumerate(self._unnamed):
            if content == said["message"]["content"]:
                self._ids[said["uuid"]] = uuid
                del self._unnamed[at]
                return

    def _tell(self, host: dict[str, Any], number: int) -> None:
        command = self._command(host)
        if command is None:
            return
        lines = self._take(Told(command, InputKey(f"test:{number}")))
        if not lines:  # a late answer
            return
        ours = json.loads(lines[0])
        self.written.append(Written(host, ours))
        if host["type"] == "control_request":
            self._ids[host["request_id"]] = ours["request_id"]
        elif host["type"] == "user" and "uuid" in host:
            self._ids[host["uuid"]] = ours["uuid"]
        elif host["type"] == "user":
            self._unnamed.append((host["message"]["content"], ours["uuid"]))

    def _command(self, host: dict[str, Any]) -> c.Command | None:
        if host["type"] == "user":
            return c.SendInput(content=_content(host["message"]["content"]))
        if host["type"] == "control_response":
            return self._answer(host["response"])
        assert host["request"]["subtype"] == "interrupt"
        return c.Interrupt()

    def _answer(self, response: dict[str, Any]) -> c.Command:
        prompt = self._prompts[response["request_id"]]
        asked = self._asked[response["request_id"]]
        verdict = response["response"]
        if verdict["behavior"] == "deny":
            stop = verdict.get("interrupt", False)
            return c.AnswerPermission(
                prompt=prompt, digest="", decision="deny", message=verdict["message"], stop=stop
            )
        given = verdict["updatedInput"]
        if asked["tool_name"] == "AskUserQuestion":
            answers = {
                question: (answer,) if isinstance(answer, str) else tuple(answer)
                for question, answer in given["answers"].items()
            }
            return c.AnswerQuestion(prompt=prompt, digest="", answers=answers)
        edited = UNSET if given == asked["input"] else Raw(json.dumps(given).encode())
        return c.AnswerPermission(prompt=prompt, digest="", decision="allow", updated_input=edited)

    def _take(self, step: Connected | Heard | Told) -> list[bytes]:
        self.steps.append(step)
        if isinstance(step, Heard):
            self._driver.receive([step.line], NOW_MS)
        elif isinstance(step, Told):
            self._driver.send(SESSION, step.command, step.key, NOW_MS)
        output = self._driver.take()
        for _, what in output.out:
            if isinstance(what, PermissionAsked | QuestionAsked) and isinstance(step, Heard):
                self._prompts[json.loads(step.line)["request_id"]] = what.prompt
        return [line.data for line in output.lines]


def _content(content: Any) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(Text(one["text"]) for one in content)
