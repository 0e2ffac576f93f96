"""A toy agent: the smallest kind that publishes options, trust files, offers and tool kinds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.agents.kinds import AgentKind, AgentSettings
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model import facts as f
from flybridge.model.capabilities import Capabilities, Launch, LinkEnd, Mode, OpenSpec
from flybridge.model.content import Text
from flybridge.model.deliveries import Answer
from flybridge.model.ids import IncarnationId, InputKey, ItemId, PromptId, SessionId
from flybridge.model.offers import Offer
from flybridge.model.options import AgentOptions, Option, OptionSchema
from flybridge.model.tools import ToolSubject
from flybridge.model.trust import TrustFile, TrustFiles
from flybridge.session.ports import Line, Out, Output

PROGRAM = (sys.executable, "-I", str(Path(__file__).with_name("program.py")))
ALWAYS = Offer(label="Always allow", scope="session", widens=False, durable=False, allows=True)


class ToyAgent:
    """Start the toy agent, and publish what it obeys and what can be set."""

    kind = "toy"
    trust_files = TrustFiles(settings=(TrustFile(path="toy.json"),))
    options = OptionSchema((Option(name="shout", type="flag", label="Shout", grants=False),))

    def __init__(self, settings: AgentSettings) -> None:
        self.name, self._program = settings.name, settings.program

    def version_argv(self) -> Sequence[str]:
        return (*self._program, "--version")

    def capabilities(self, version_output: bytes) -> Capabilities:
        version = version_output.decode(errors="replace").removeprefix("toy ").strip()
        can = Capabilities(agent=self.name, version=version, echoes_input=True, resumes=True)
        modes = (Mode("ask", 0, name="Ask", description="It asks before every command"),)
        return msgspec.structs.replace(can, known_modes=modes, modes=frozenset({"ask"}))

    def launch(self, spec: OpenSpec, capabilities: Capabilities) -> Launch:
        shout = ["--shout"] if spec.agent_options.get("shout") else []
        resume = ["--resume", spec.agent_session] if spec.resume else []
        return Launch(argv=(*self._program, *shout, *resume), cwd=spec.cwd)

    def driver(self, capabilities: Capabilities) -> ToyDriver:
        return ToyDriver()

    def restricted(self, agent_options: AgentOptions) -> AgentOptions | None:
        return None  # it cannot be started without the settings of its folder


class ToyDriver:
    """Turn the toy's lines into facts, and commands into lines. The memo is the open call."""

    deadline_ms: int | None = None

    def __init__(self) -> None:
        self._out: list[tuple[SessionId, Out]] = []
        self._lines: list[Line] = []

    def attach(
        self, session: SessionId, incarnation: IncarnationId, spec: OpenSpec, memo: bytes
    ) -> None:
        self._session = session
        self._call, _, self._ask = memo.decode().partition(" ")

    def memo(self, session: SessionId) -> bytes:
        return f"{self._call} {self._ask}".encode()

    def take(self) -> Output:
        output = Output(self._out, self._lines, {})
        self._out, self._lines = [], []
        return output

    def connected(self, now_ms: int) -> None: ...
    def tick(self, now_ms: int) -> None: ...

    def query(self, session: SessionId, ref: str, name: str, params: Raw, now_ms: int) -> None:
        self._put(Answer(ref, error="not_supported"))

    def lost(self, end: LinkEnd, now_ms: int) -> None:
        if self._call:
            self._returned("partial")

    def send(self, session: SessionId, command: c.Command, key: InputKey, now_ms: int) -> None:
        if isinstance(command, c.SendInput):
            text = " ".join(part.text for part in command.content if isinstance(part, Text))
            line = msgspec.json.encode({"say": text, "key": key})
            self._lines.append(Line(data=line, key=key, on_restart="drop"))
        elif isinstance(command, c.AnswerPermission) and command.prompt == self._ask:
            self._ask = ""
            answer = {"allow": command.decision == "allow", "always": 0 in command.remember}
            self._lines.append(Line(data=msgspec.json.encode({**answer, "key": key}), key=key))
        else:
            self._put(f.InputRejected(key=key, reason="the toy cannot do that"))

    def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
        for line in messages:
            try:
                self._hear(msgspec.json.decode(line, type=dict[str, str]))
            except (msgspec.MsgspecError, ValueError):
                self._put(e.Unrecognised(source="toy", text=line.decode(errors="replace")[:4096]))

    def _hear(self, message: dict[str, str]) -> None:
        match message:
            case {"hello": conversation}:
                self._put(e.AgentReady(agent_session=conversation, mode="ask"))
                self._put(f.AcceptsInput())
            case {"got": key}:
                self._put(f.InputEchoed(key=InputKey(key)))
            case {"turn": turn}:
                self._put(f.TurnBegan() if turn == "begin" else f.TurnOver())
            case {"text": text, "id": item}:
                self._put(f.ItemOpened(item=ItemId(item), kind="text"))
                self._put(f.ItemClosed(item=ItemId(item), text=text))
            case {"call": call, "command": command} if not self._call and " " not in call:
                self._call = call
                self._put(f.ItemOpened(item=ItemId(call), kind="tool", name="shell"))
                self._put(f.ToolCalled(item=ItemId(call), name="shell", **_about(command)))
            case {"ask": ask, "command": command} if self._call and not self._ask:
                self._ask, item = ask, ItemId(self._call)
                own: dict[str, Any] = {"offers": (ALWAYS,), "suggestions": (Raw(b'"always"'),)}
                asked = f.PermissionAsked(
                    prompt=PromptId(ask), tool="shell", item=item, **own, **_about(command)
                )
                self._put(asked)
            case {"result": ("ok" | "denied") as status, "text": text} if self._call:
                self._returned(status, text)
            case _:
                raise ValueError(message)

    def _returned(self, status: Any, text: str = "") -> None:
        if self._ask:
            self._put(f.PromptWithdrawn(prompt=PromptId(self._ask)))
        self._put(f.ToolReturned(item=ItemId(self._call), status=status, text=text))
        self._call = self._ask = ""

    def _put(self, out: Out) -> None:
        self._out.append((self._session, out))


def _about(command: str) -> dict[str, Any]:
    given = Raw(msgspec.json.encode({"command": command}))
    return {"input": given, "kind": "execute", "subject": ToolSubject(command=command)}


KIND = AgentKind(name="toy", program=PROGRAM, build=ToyAgent)
