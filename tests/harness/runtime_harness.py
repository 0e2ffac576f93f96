"""The runtime without a door: real keepers, the recorder agent, a journal of your choice."""

from __future__ import annotations

import itertools
import secrets
import time
import uuid
from pathlib import Path
from typing import Any

import msgspec

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.deliveries import Batch, Preview, Reply, Shown, Stage, View
from flybridge.model.ids import SessionId
from flybridge.model.requests import Ask, Attach, Submit
from flybridge.runtime.broadcaster import Hub, Subscription
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.keeper.process import boot_id
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.services import Limits, Services, Timing
from flybridge.runtime.sessions import Sessions
from flybridge.runtime.unit_of_work import entries_of
from flybridge.session.authorisation import Caller
from flybridge.session.ports import Journal
from flybridge.store.memory import MemoryBlobs, MemoryJournal
from tests.harness.agent_programs import recorder_program
from tests.harness.leftovers import find_sockets
from tests.harness.other_agent import CourierAgent
from tests.harness.waiting import until

EVERYTHING = Caller(
    principal="me",
    scopes=frozenset({"view", "input", "interrupt", "approve", "spawn", "admin"}),
    process="1:1:boot",
)


class ListClient:
    """A client that keeps everything it gets."""

    def __init__(self, caller: Caller = EVERYTHING) -> None:
        self.caller = caller
        self.subscriptions: dict[SessionId, Subscription] = {}
        self.writable = True
        self.batches: list[Batch] = []
        self.previews: list[Preview] = []
        self.views: list[View] = []
        self.replies: dict[str, Reply] = {}
        self.ended: list[str] = []

    def batch(self, batch: Batch) -> None:
        self.batches.append(batch)

    def shown(self, shown: Shown, wire: bytes) -> None:
        if isinstance(shown.what, Preview):
            self.previews.append(shown.what)

    def view(self, view: View, wire: bytes) -> None:
        self.views.append(view)

    def detached(self, session: SessionId, code: str) -> None:
        self.ended.append(code)

    def reply(self, reply: Reply) -> None:
        assert reply.ref not in self.replies, "a second reply"
        self.replies[reply.ref] = reply

    @property
    def events(self) -> list[e.Event]:
        return [entry.event for batch in self.batches for entry in entries_of(batch)]

    def seqs(self) -> list[int]:
        return [entry.seq for batch in self.batches for entry in entries_of(batch)]

    def tags(self) -> list[str]:
        return [str(one.__struct_config__.tag) for one in self.events]

    def of(self, kind: type) -> list[Any]:
        return [one for one in self.events if isinstance(one, kind)]


class House:
    """One gateway's worth of runtime. ``die`` leaves the agents to their keepers."""

    def __init__(self, folder: Path, journal: Journal | None = None, **more: Any) -> None:
        self.folder = folder
        self.record = folder / "record"
        self.journal: Journal = journal or MemoryJournal()
        (folder / "keepers").mkdir(mode=0o700, exist_ok=True)
        program = recorder_program(self.record)
        self.program = program
        environment = {"PATH": "/usr/bin:/bin"}
        missing = ClaudeAgent(name="missing", program=["/no/such/program"])
        self.services = Services(
            journal=self.journal,
            blobs=MemoryBlobs(),
            hub=Hub(self.journal),
            shelf=AgentShelf(
                {
                    "recorder": (
                        ClaudeAgent(name="recorder", program=[*program, *more.get("flags", [])]),
                        environment,
                    ),
                    "courier": (CourierAgent(), environment),
                    "missing": (missing, environment),
                },
                make=lambda name, kind: ClaudeAgent(name=name) if kind == "claude" else None,
            ),
            keepers=folder / "keepers",
            boot=more.get("boot", boot_id()),
            now_ms=lambda: time.time_ns() // 1_000_000,
            new_id=lambda prefix: f"{prefix}_{uuid.uuid4().hex[:12]}",
            new_secret=lambda: secrets.token_hex(16),
            timing=Timing(hello_s=20, orphan_s=20, grace_s=more.get("grace_s", 5.0), draft_s=0.05),
            limits=more.get("limits", Limits()),
        )
        self.sessions = Sessions(self.services)
        self.desk = Desk(self.sessions, self.services.hub, self.journal, self.services.blobs, {})
        self.client = ListClient()
        self._refs = itertools.count(1)

    def next(self, journal: Journal, **more: Any) -> House:
        """The gateway that comes after this one."""
        return House(self.folder, journal, **more)

    async def ask(self, name: str, visitor: ListClient | None = None, /, **params: Any) -> Reply:
        client = visitor or self.client
        ref = f"ask{next(self._refs)}"
        raw = msgspec.Raw(msgspec.json.encode(params))
        await self.desk.handle(client, Ask(ref=ref, name=name, params=raw))
        return client.replies[ref]

    async def open(self, agent: str = "recorder", **params: Any) -> LiveSession:
        params = {"cwd": str(self.folder), "request": "open", **params}
        reply = await self.ask("open", agent=agent, **params)
        assert not reply.error, reply
        session = SessionId(msgspec.json.decode(reply.value)["session"])  # type: ignore[arg-type]
        await self.attach(session)
        return self.sessions.get(session)

    async def attach(
        self, session: SessionId, client: ListClient | None = None, **more: Any
    ) -> Reply:
        client = client or self.client
        ref = f"att{next(self._refs)}"
        await self.desk.handle(client, Attach(ref=ref, session=session, **more))
        return client.replies[ref]

    async def submit(
        self,
        session: SessionId,
        command: c.Command,
        request: str,
        stage: Stage = Stage.WRITTEN,
        *,
        client: ListClient | None = None,
        wait_ms: int = 15_000,
    ) -> Reply:
        client = client or self.client
        ref = f"sub{next(self._refs)}"
        await self.desk.handle(
            client,
            Submit(
                ref=ref,
                session=session,
                command=command,
                request=request,
                until=stage,
                wait_ms=wait_ms,
            ),
        )
        return client.replies[ref]

    async def say(
        self, live: LiveSession, text: str, request: str, stage: Stage = Stage.DONE, **more: Any
    ) -> Reply:
        command = c.SendInput(content=(Text(text),), mode=more.pop("mode", "auto"))
        return await self.submit(live.session, command, request, stage, **more)

    async def saw(self, kind: type, count: int = 1) -> Any:
        """Wait for events of a kind; returns the last of them."""
        await until(lambda: len(self.client.of(kind)) >= count)
        return self.client.of(kind)[-1]

    async def die(self) -> None:
        """What kill -9 leaves: the journal, and agents with their keepers."""
        await self.sessions.close()

    async def end(self) -> None:
        """End every agent, then everything."""
        for row in self.journal.live():
            live = self.sessions.get(row.session)
            await until(lambda live=live: live.down is None)  # type: ignore[misc]
            await self.sessions.stop_agent(row.session)
        await self.sessions.close()
        # a keeper that was still starting hears of no gateway, and ends by itself
        await until(lambda: not self._kept())

    def _kept(self) -> list[str]:
        """Return the sockets of the keepers that are still there."""
        return [path for path in find_sockets(self.services.keepers) if "/inc_" in path]
