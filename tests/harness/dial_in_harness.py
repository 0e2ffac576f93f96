"""The runtime with a door for agents that dial in, and such an agent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.auth.gate import Gate
from flybridge.gateway.agent_socket import AgentSocketDoor
from flybridge.model.audit import Record
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.links.dial_in import DialIns
from flybridge.runtime.links.socket_link import SocketLink
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.dial_in import DialInParams, DialInQuestions
from flybridge.session.ports import Journal
from flybridge.testing.recorder import executed, finished
from tests.harness.agent_programs import dialler_program
from tests.harness.runtime_harness import EVERYTHING, House
from tests.harness.waiting import until

NEW = ["/bin/echo", "2.1.325 (Claude Code)"]
MUTE = [
    sys.executable,
    "-c",
    "import sys,time; v='--version' in sys.argv; print('2.1.38') if v else time.sleep(60)",
]
SOCKET = {"transport": "socket"}
BY_HAND = {"transport": "by_hand"}


class DialHouse(House):
    """A :class:`House` whose agent ``dialler`` connects to it."""

    def __init__(self, folder: Path, journal: Journal | None = None, **more: Any) -> None:
        super().__init__(folder, journal, **more)
        flags = more.get("flags", [])
        program = dialler_program(self.record)
        self.program = [*program, *flags]
        agent = ClaudeAgent(name="dialler", program=self.program)
        self.services.shelf = AgentShelf(
            {
                "dialler": (agent, {"PATH": "/usr/bin:/bin"}),
                "mute": (ClaudeAgent(name="mute", program=MUTE), {"PATH": "/usr/bin:/bin"}),
                "new": (ClaudeAgent(name="new", program=NEW), {"PATH": "/usr/bin:/bin"}),
            },
        )
        self.services.timing = msgspec.structs.replace(
            self.services.timing, dial_in_s=more.get("dial_in_s", 60)
        )
        self.notes: list[Record] = []
        self.dial_ins = self.services.dial_ins = DialIns(self._listen, self._shut)
        self.door = AgentSocketDoor(
            self.dial_ins,
            port_file=folder / "agent-port",
            now_ms=self.services.now_ms,
            audit=self.notes.append,
            head_s=more.get("head_s", 5.0),
            max_frame=more.get("max_frame", 128 * 2**20),
        )

    async def _listen(self) -> int:
        return await self.door.listen()

    async def _shut(self) -> None:
        await self.door.close()

    def next(self, journal: Journal, **more: Any) -> DialHouse:
        return DialHouse(self.folder, journal, **more)

    async def dial(self, **params: Any) -> LiveSession:
        """A session whose agent has connected."""
        live = await self.open(agent="dialler", options=SOCKET, **params)
        await until(lambda: self.door.agents)
        return live

    async def by_hand(self) -> tuple[LiveSession, subprocess.Popen[bytes]]:
        """A session whose agent a person started, and that agent."""
        live = await self.open(agent="dialler", options=BY_HAND)
        asked = DialInParams(session=live.session)
        url = (await DialInQuestions(self.sessions).dial_in(EVERYTHING, asked)).url
        agent = self._start(url)
        await until(lambda: self.door.agents)
        return live, agent

    def _start(self, url: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self.program, "--sdk-url", url])

    def link(self, live: LiveSession) -> SocketLink:
        assert live.memory.incarnation is not None
        found = self.dial_ins.of(live.memory.incarnation.incarnation)
        assert found is not None
        return found.link

    async def hear_out(self, live: LiveSession) -> None:
        """Wait until everything that was said has arrived and is saved: a turn's last lines
        follow its result, an answer to a question follows them, and lines that make no event are
        saved a moment later."""
        await until(lambda: len(finished(self.record)) == len(executed(self.record)))
        await live.queries.ask("mcp", Raw(b"{}"))
        await until(lambda: self._saved(live) == live.memory.consumed)

    def _saved(self, live: LiveSession) -> int:
        loaded = self.journal.load(live.session)
        return loaded.place.out_offset if loaded is not None and loaded.place is not None else -1

    async def drop(self) -> None:
        """Cut every connection, and wait until that was noticed."""
        for one in list(self.door.agents):
            one.abort()
        await until(lambda: not self.door.agents)

    async def drop_for(self, work: Callable[[], Awaitable[None]]) -> None:
        """Cut every connection and let nobody in until ``work`` is done."""
        gate = self.door.gate
        self.door.gate = Gate(hosts=frozenset(), origins=frozenset())
        await self.drop()
        await work()
        self.door.gate = gate
        await until(lambda: self.door.agents)
