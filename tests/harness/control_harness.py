"""A door for control messages, by every way there is, in front of a recorder agent."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from flybridge.auth.login import Login
from flybridge.auth.tcp_peer import TcpPeers
from flybridge.frontends.control.adapter import speak_control
from flybridge.frontends.control.service import Control, ControlSpec
from flybridge.frontends.control.teams import Policy
from flybridge.frontends.control.unix import ControlDoor
from flybridge.frontends.control.websocket import ControlSocketDoor
from flybridge.model.audit import Record
from flybridge.runtime.live_session import LiveSession
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Journal
from flybridge.store.teams import Member, Rule, TeamFile, Teams
from flybridge.testing import recorder
from flybridge.wire.control.times import format_time
from tests.harness.http_harness import OWNER, Web
from tests.harness.runtime_harness import House
from tests.harness.waiting import WAIT_S, until

Json = dict[str, Any]
LEAD = Caller(principal="lead", scopes=frozenset({"control"}), door="unix")
ALLOWED = Teams(
    members=(
        Member(team="default", name="lead", principal="lead"),
        Member(team="default", name="boss", principal=OWNER),
    ),
    rules=(Rule(effect="allow", team="default"),),
)


class Steered(Web):
    """A gateway with a control front end. ``now_ms`` is its clock, and can be moved."""

    def __init__(
        self, house: House, *, teams: Teams = ALLOWED, ack_s: float = WAIT_S, **spec: Any
    ) -> None:
        self.skip_ms = 0
        self.base_dir = house.folder / "inbox"
        self.base_dir.mkdir(mode=0o700, exist_ok=True)
        self.file = TeamFile(house.folder / "teams")
        self.file.save(teams)
        self.notes: list[Record] = []
        self.control = Control(
            house.sessions,
            Policy(self.file, self._noted),
            ControlSpec(base=self.base_dir, ack_s=ack_s, **spec),
            now_ms=self.clock,
            audit=self._noted,
        )
        super().__init__(house, extra=self.control.table())
        self.control.submit = self.desk.submit
        self._numbers = itertools.count(1)
        more: Any = {"speak": speak_control, "now_ms": self.clock}
        self.unix = ControlDoor(self.desk, keepers=house.sessions.keepers, **more)
        more["peers"] = TcpPeers(house.sessions.keepers)
        self.senders = ControlSocketDoor(
            self.desk, gate=self.gate, authority=self.authority, audit=self._noted, **more
        )
        self.path = str(house.folder / "control.sock")
        self._server: asyncio.Server | None = None

    def _noted(self, record: Record) -> None:
        self.notes.append(record)
        self.log.write(record)

    def clock(self) -> int:
        return time.time_ns() // 1_000_000 + self.skip_ms

    async def start(self) -> None:
        elsewhere = {self.senders.path: self.senders.protocol_class()}
        await self.door.open(self.app, self.sockets.protocol_class(), elsewhere)
        self.cookie = self.authority.login(self.authority.ticket(), door="http", source="test")
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self.unix.make, self.path)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        self.unix.close()
        self.senders.close()
        await super().stop()

    # ---- what is said ------------------------------------------------------------------------

    def sender(self) -> Login:
        """A login of the owner's that is good for control messages and nothing else."""
        ticket = self.authority.ticket(frozenset({"control"}))
        return self.authority.login(ticket, door="http", source="test")

    def agent_id(self, live: LiveSession) -> str:
        return f"{live.memory.state.agent}:{live.memory.state.agent_session}"

    def message(self, live: LiveSession, kind: str = "stdin", **more: Any) -> Json:
        """A message that is right in every way; ``more`` changes it, None takes a field away."""
        said: Json = {
            "type": f"control.{kind}.request",
            "v": 1,
            "request_id": f"req_{next(self._numbers)}",
            "team": "default",
            "session_id": live.session,
            "agent_id": self.agent_id(live),
            "sender": "lead",
            "sent_at": format_time(self.clock()),
        }
        if kind == "stdin" and "content_ref" not in more:
            said["content"] = "hello"
        if kind == "interrupt":
            said["signal"] = "interrupt"
        return {key: value for key, value in {**said, **more}.items() if value is not None}

    async def ack(self, message: Json | bytes, caller: Caller = LEAD) -> Json:
        """What the receiver makes of it, as the doors hand it over."""
        raw = message if isinstance(message, bytes) else msgspec.json.encode(message)
        answer = await self.control.answer(caller, msgspec.Raw(raw))
        found: Json = json.loads(msgspec.json.encode(answer))
        return found

    async def ready(self, request: str = "open", **more: Any) -> LiveSession:
        """A session whose agent runs, is idle, and has said what it calls itself."""
        live = await self.house.open(request=request, **more)
        await self.house.say(live, "warm", f"{request}-warm")
        await until(lambda: not live.memory.state.turn and not live.memory.state.inputs)
        return live

    def lines(self) -> list[str]:
        """The messages that reached agents, the one that warmed them up aside."""
        return [one for one in texts(self.house.record) if one != "warm"]


def texts(record: Path) -> list[str]:
    """What agents were told, in the order they read it."""
    found = []
    for line in recorder.lines(record) if record.exists() else []:
        message = json.loads(line)
        if message.get("type") == "user":
            content = message["message"]["content"]
            found.append(content if isinstance(content, str) else content[0]["text"])
    return found


@asynccontextmanager
async def steered(
    folder: Path,
    journal: Journal | None = None,
    *,
    make: Callable[..., House] = House,
    **more: Any,
) -> AsyncIterator[Steered]:
    one = Steered(make(folder, journal, grace_s=0.3), **more)
    await one.start()
    try:
        yield one
    finally:
        await one.stop()
        await one.house.end()


class Line:
    """A sender at the Unix socket: a line out, a line in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, path: str) -> Line:
        return cls(*await asyncio.open_unix_connection(path, limit=1 << 24))

    def say(self, message: Json | bytes) -> None:
        data = message if isinstance(message, bytes) else msgspec.json.encode(message)
        self._writer.write(data + b"\n")

    async def hear(self) -> Json:
        line = await asyncio.wait_for(self._reader.readline(), WAIT_S)
        assert line, "hung up"
        found: Json = json.loads(line)
        return found

    async def ended(self) -> bool:
        return await asyncio.wait_for(self._reader.read(), WAIT_S) == b""

    async def ask(self, message: Json | bytes) -> Json:
        self.say(message)
        return await self.hear()

    def close(self) -> None:
        self._writer.close()
