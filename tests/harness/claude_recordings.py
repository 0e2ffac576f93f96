"""Recordings of the real CLI, put to our driver as if it had written the host's part.

A golden file is a header and then lines, each with where it went: ``in`` to the CLI, ``out``
of it, ``start`` and ``exit`` of a process (its arguments, its status), ``bytes`` that were
written as no whole line. A file may hold several processes one after the other; each is a
recording of its own here, ``2.1.325/resume:2`` being the second one of its file.

The recorded host chose its own request ids and message uuids. A recording is walked through
once with a driver; wherever the driver writes another id than the host did, the CLI's later
lines are rewritten to use ours. What the driver wrote is kept beside what the host wrote,
and what the host wrote that no host of ours would is kept with the reason.

``facts.txt`` beside the recordings says what facts come of each of them. When the driver
learns something, ``python -m tests.harness.claude_recordings`` writes it anew, to be read.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.model import commands as c
from flybridge.model.capabilities import Capabilities, OpenSpec, Options
from flybridge.model.content import Content, Document, Image, Text
from flybridge.model.deliveries import Answer, Gauge
from flybridge.model.events import ContextCompacted, Error, Notice
from flybridge.model.facts import (
    Fact,
    InputRejected,
    ItemClosed,
    PermissionAsked,
    QuestionAsked,
    ToolReturned,
    TurnOver,
)
from flybridge.model.ids import InputKey, PromptId
from flybridge.model.legacy_options import from_legacy, start_fields
from flybridge.model.queries import RAW
from flybridge.testing.drivers import (
    INCARNATION,
    NOW_MS,
    SESSION,
    Connected,
    Conversation,
    DriverKit,
    Heard,
    Played,
    Step,
    Told,
)

GOLDEN = Path(__file__).parents[1] / "golden" / "claude"
FILES = sorted(f"{one.parent.name}/{one.stem}" for one in GOLDEN.glob("2.*/*.jsonl"))

MADE_UP_FIELDS = ("priority", "isSynthetic")  # a person's words are neither


class Recorded(msgspec.Struct, frozen=True):
    dir: str
    line: str


class Recording(msgspec.Struct, frozen=True):
    """One process of the CLI."""

    version: str
    scenario: str
    argv: tuple[str, ...]
    lines: tuple[Recorded, ...]

    def said(self) -> list[bytes]:
        """What the CLI wrote."""
        return [one.line.encode() for one in self.lines if one.dir == "out"]

    def spec(self) -> OpenSpec:
        options = Options(
            skip_permissions="--dangerously-skip-permissions" in self.argv,
            allow_bypass="--allow-dangerously-skip-permissions" in self.argv,
        )
        resumed = "--resume" in self.argv or "--continue" in self.argv
        return OpenSpec(
            agent="claude", cwd="/project", resume=resumed, **start_fields(from_legacy(options))
        )


class Written(msgspec.Struct, frozen=True):
    """What the recorded host wrote, and what our driver writes in its place."""

    host: dict[str, Any]
    ours: dict[str, Any]


class LeftOut(msgspec.Struct, frozen=True):
    """What the recorded host wrote and ours would not."""

    why: str
    host: dict[str, Any]


class Replay(msgspec.Struct, frozen=True):
    recording: Recording
    conversation: Conversation
    written: list[Written]
    left_out: list[LeftOut]

    def play(self, *, end: bool = False) -> Played:
        kit = DriverKit(lambda: driver_of(self.recording.version), self.recording.spec())
        return kit.play(self.conversation, end=end)


def _processes(file: str) -> list[Recording]:
    header, *lines = (GOLDEN / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    told = json.loads(header)
    found: list[tuple[tuple[str, ...], list[Recorded]]] = []
    for line in lines:
        recorded = msgspec.json.decode(line, type=Recorded)
        if recorded.dir == "start":
            found.append((tuple(json.loads(recorded.line)), []))
        else:
            found[-1][1].append(recorded)
    return [
        Recording(told["version"], told["scenario"], argv, tuple(lines)) for argv, lines in found
    ]


def _named() -> dict[str, Recording]:
    """Every process that said anything; the others died of their arguments."""
    named = {}
    for file in FILES:
        processes = _processes(file)
        for number, one in enumerate(processes, 1):
            if one.said():
                named[file if len(processes) == 1 else f"{file}:{number}"] = one
    return named


RECORDINGS = _named()
NAMES = sorted(RECORDINGS)
SUMMARIES = GOLDEN / "facts.txt"
FACTS = dict(line.split(": ", 1) for line in SUMMARIES.read_text().splitlines())


def recording(name: str) -> Recording:
    return RECORDINGS[name]


def _capabilities(version: str) -> Capabilities:
    return ClaudeAgent().capabilities(f"{version} (Claude Code)".encode())


def driver_of(version: str) -> ClaudeDriver:
    return ClaudeAgent().driver(_capabilities(version))


def attached(version: str = "2.1.325", memo: bytes = b"") -> ClaudeDriver:
    return _attached(version, OpenSpec(agent="claude", cwd="/project"), memo)


def _attached(version: str, spec: OpenSpec, memo: bytes = b"") -> ClaudeDriver:
    driver = driver_of(version)
    driver.attach(SESSION, INCARNATION, spec, memo)
    driver.take()
    return driver


@functools.cache
def replay(name: str) -> Replay:
    recorded = recording(name)
    walk = _Walk(recorded)
    conversation = Conversation(name, tuple(walk.steps))
    return Replay(recorded, conversation, walk.written, walk.left_out)


def replayed(name: str) -> tuple[Conversation, list[Written]]:
    one = replay(name)
    return one.conversation, one.written


def summary(name: str) -> str:
    """The kinds of facts that come of a recording, in order; gauges and previews left out."""
    return " ".join(
        described(one) for one in replay(name).play().facts if not isinstance(one, Gauge)
    )


def described(fact: Fact | Gauge | Answer) -> str:
    match fact:
        case TurnOver(reason=said) | ItemClosed(status=said) | ToolReturned(status=said):
            return f"{type(fact).__name__}({said})"
        case Notice(level=said) | Error(code=said) | ContextCompacted(phase=said):
            return f"{type(fact).__name__}({said})"
        case _:
            return type(fact).__name__


class _Walk:
    def __init__(self, recorded: Recording) -> None:
        self.steps: list[Step] = []
        self.written: list[Written] = []
        self.left_out: list[LeftOut] = []
        self._version = recorded.version
        self._driver = _attached(recorded.version, recorded.spec())
        self._ids: dict[str, str] = {}  # the host's → ours
        self._foreign: set[str] = set()  # requests only other hosts send
        self._unnamed: list[tuple[Any, str]] = []  # prompts the host gave no uuid
        self._prompts: dict[str, PromptId] = {}
        self._asked: dict[str, dict[str, Any]] = {}
        for one in recorded.lines:
            if one.dir == "out":
                self._hear(one.line)
            elif one.dir == "in":
                self._tell(json.loads(one.line), len(self.steps))

    # ---- the CLI's part ------------------------------------------------------------------------

    def _hear(self, line: str) -> None:
        said = json.loads(line)
        if said["type"] == "control_response" and said["response"]["request_id"] in self._foreign:
            return
        if said.get("isReplay"):
            self._name(said)
        for old, new in self._ids.items():
            line = line.replace(old, new)
        self._take(Heard(line.encode()))
        if said["type"] == "control_request":
            self._asked[said["request_id"]] = said["request"]

    def _name(self, said: dict[str, Any]) -> None:
        """The echo of a prompt that had no uuid gets the one our driver gave it."""
        content = said["message"]["content"]
        for at, (sent, uuid) in enumerate(self._unnamed):
            if _content(sent) == _content(content) or _is_command(sent, content):
                self._ids[said["uuid"]] = uuid
                del self._unnamed[at]
                return

    # ---- the host's part -----------------------------------------------------------------------

    def _tell(self, host: dict[str, Any], number: int) -> None:
        key = InputKey(f"test:{host.get('uuid', number)}")
        try:
            step = self._step(host, key)
        except _LeftOutError as error:
            self._leave_out(str(error), host)
            return
        lines = self._take(step)
        if not lines:
            self._leave_out("no longer open, or refused", host)
            return
        ours = json.loads(lines[0])
        self.written.append(Written(host, ours))
        if host["type"] == "control_request":
            self._ids[host["request_id"]] = ours["request_id"]
        elif host["type"] == "user" and "uuid" in host:
            self._ids[host["uuid"]] = ours["uuid"]
        elif host["type"] == "user":
            self._unnamed.append((host["message"]["content"], ours["uuid"]))

    def _leave_out(self, why: str, host: dict[str, Any]) -> None:
        self.left_out.append(LeftOut(why, host))
        if host["type"] == "control_request":
            self._foreign.add(host["request_id"])
        elif host["type"] == "control_response":  # the CLI repeats it
            self._foreign.add(host["response"]["request_id"])

    def _step(self, host: dict[str, Any], key: InputKey) -> Step:
        if host["type"] == "user":
            if any(name in host for name in MADE_UP_FIELDS):
                raise _LeftOutError("says that no person said it")
            return Told(c.SendInput(content=_content(host["message"]["content"])), key)
        if host["type"] == "control_response":
            return Told(self._answer(host["response"]), key)
        request = host["request"]
        if request["subtype"] == "initialize":
            if set(request) != {"subtype"}:
                raise _LeftOutError("declares hooks, servers, agents or prompts of the host's own")
            return Connected()
        return Told(self._request(host), key)

    def _request(self, host: dict[str, Any]) -> c.Command:
        request = host["request"]
        match request["subtype"]:
            case "interrupt":
                return c.Interrupt()
            case "set_model":
                return c.SetModel(model=request.get("model", ""))
            case "set_permission_mode":
                return c.SetMode(mode=request["mode"])
            case "set_max_thinking_tokens":
                tokens = request["max_thinking_tokens"]
                return c.SetThinking(tokens=-1 if tokens is None else tokens)
            case "stop_task":
                return c.StopTask(task=request["task_id"])
            case "mcp_reconnect":
                return c.Mcp(server=request["serverName"], action="reconnect")
            case "mcp_toggle":
                enabled = request["enabled"]
                server = request["serverName"]
                return c.Mcp(server=server, action="enable" if enabled else "disable")
            case subtype:
                self._query(subtype, host)
                raise _LeftOutError("a request of another kind")

    def _query(self, subtype: str, host: dict[str, Any]) -> None:
        """A question is put by another driver: the answer goes to whoever asked, not here."""
        params = {name: value for name, value in host["request"].items() if name != "subtype"}
        for name in sorted(_capabilities(self._version).queries):
            asking = attached(self._version)
            asking.query(SESSION, "ref", RAW + name, Raw(json.dumps(params).encode()), NOW_MS)
            for line in asking.take().lines:
                ours = json.loads(line.data)
                if ours["request"]["subtype"] == subtype:
                    self.written.append(Written(host, ours))
                    raise _LeftOutError("a question")

    def _answer(self, response: dict[str, Any]) -> c.Command:
        asked = self._asked[response["request_id"]]
        if asked["subtype"] != "can_use_tool":
            raise _LeftOutError("answers a request our driver refuses by itself")
        prompt = self._prompts[response["request_id"]]
        verdict = response["response"]
        if asked["tool_name"] == "AskUserQuestion" and verdict["behavior"] == "allow":
            return _answer_question(prompt, asked, verdict["updatedInput"])
        if verdict["behavior"] == "deny":
            stop = verdict.get("interrupt", False)
            return c.AnswerPermission(
                prompt=prompt, digest="", decision="deny", message=verdict["message"], stop=stop
            )
        given = verdict["updatedInput"]
        edited = UNSET if given == asked["input"] else Raw(json.dumps(given).encode())
        return c.AnswerPermission(
            prompt=prompt,
            digest="",
            decision="allow",
            updated_input=edited,
            remember=_remembered(asked, verdict),
        )

    def _take(self, step: Step) -> list[bytes]:
        self.steps.append(step)
        if isinstance(step, Heard):
            self._driver.receive([step.line], NOW_MS)
        elif isinstance(step, Told):
            self._driver.send(SESSION, step.command, step.key, NOW_MS)
        else:
            self._driver.connected(NOW_MS)
        output = self._driver.take()
        for _, what in output.out:
            if isinstance(what, PermissionAsked | QuestionAsked) and isinstance(step, Heard):
                self._prompts[json.loads(step.line)["request_id"]] = what.prompt
        if isinstance(step, Told) and any(isinstance(one, InputRejected) for _, one in output.out):
            return []
        return [line.data for line in output.lines]


class _LeftOutError(Exception):
    """Ours would not write this."""


def _content(content: Any) -> tuple[Content, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_part(one) for one in content)


def _part(part: dict[str, Any]) -> Content:
    match part["type"]:
        case "text":
            return Text(part["text"])
        case "image":
            return Image(media_type=part["source"]["media_type"], data=part["source"]["data"])
        case "document":
            return Document(media_type=part["source"]["media_type"], data=part["source"]["data"])
        case _:
            raise _LeftOutError("a block that people do not write")


def _is_command(sent: Any, echoed: Any) -> bool:
    """A command that is a prompt comes back as what it was taken for."""
    first = _content(sent)[0]
    words = first.text.split(maxsplit=1) if isinstance(first, Text) else []
    return bool(words) and isinstance(echoed, str) and f"<command-name>{words[0]}<" in echoed


def _answer_question(
    prompt: PromptId, asked: dict[str, Any], given: dict[str, Any]
) -> c.AnswerQuestion:
    if set(given) - set(asked["input"]) != {"answers"}:
        raise _LeftOutError("answers with more or less than answers")
    answers = {
        question: (answer,) if not isinstance(answer, list) else tuple(answer)
        for question, answer in given["answers"].items()
    }
    if not all(isinstance(one, str) for labels in answers.values() for one in labels):
        raise _LeftOutError("answers with a number")
    return c.AnswerQuestion(prompt=prompt, digest="", answers=answers)


def _remembered(asked: dict[str, Any], verdict: dict[str, Any]) -> tuple[int, ...]:
    offered = asked.get("permission_suggestions", [])
    chosen = verdict.get("updatedPermissions", [])
    if not all(one in offered for one in chosen):
        raise _LeftOutError("remembers what nobody suggested")
    return tuple(offered.index(one) for one in chosen)


if __name__ == "__main__":
    SUMMARIES.write_text("".join(f"{name}: {summary(name)}\n" for name in NAMES))
