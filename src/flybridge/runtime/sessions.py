"""All sessions of one gateway: those in memory, and those only the journal knows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import UUID, uuid5

from flybridge.errors import BusyError, FlybridgeError, SessionNotFoundError, StorageError
from flybridge.model.capabilities import OpenSpec
from flybridge.model.ids import IncarnationId, SessionId
from flybridge.runtime.access.folders import Trusted
from flybridge.runtime.access.openers import Openers
from flybridge.runtime.lifecycle.conversation_ids import ConversationIds
from flybridge.runtime.lifecycle.eviction import Eviction
from flybridge.runtime.lifecycle.past import past_of, refuse_second_writer
from flybridge.runtime.lifecycle.supervisor import Supervisor
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.services import Services
from flybridge.runtime.unit_of_work import DELETING, load_memory, new_memory
from flybridge.session.decide import Context, open_session
from flybridge.session.effects import Forget
from flybridge.session.ports import OutLine, SessionRow
from flybridge.session.waiting import withdraw

_SESSIONS = UUID("0a1f7f4e-9d0b-4f0a-8a55-3b8f1c2f4d10")
ADOPTING_AT_ONCE = 16
FULL = "as many agents are running as may, and all are at work; end one"


class Sessions:
    """Finds, opens and recovers sessions. One live object per session, ever."""

    def __init__(self, services: Services) -> None:
        self._services = services
        services.conversation_ids = ConversationIds(services.journal)
        self._live: dict[SessionId, LiveSession] = {}
        self._supervisors: dict[SessionId, Supervisor] = {}
        self._eviction = Eviction(services)
        self.openers = Openers()
        self.on_live: Callable[[LiveSession], None] = lambda _: None  # one has come to life

    @property
    def trusted(self) -> Trusted | None:
        return self._services.trusted

    def get(self, session: SessionId) -> LiveSession:
        """A session, loaded from the journal if need be.

        Raises:
            SessionNotFoundError: there is none of that name.
        """
        found = self._live.get(session)
        if found is not None and not self._supervisors[session].forgotten.is_set():
            return found
        return self._load(session)[0]

    def _load(self, session: SessionId) -> tuple[LiveSession, list[OutLine]]:
        loaded = self._services.journal.load(session)
        if loaded is None:
            self._drop(session)
            raise SessionNotFoundError(session)
        live = self._keep(LiveSession(load_memory(self._services.journal, loaded), self._services))
        live.reset(loaded.outbox)
        self.on_live(live)
        return live, loaded.outbox

    def _keep(self, live: LiveSession) -> LiveSession:
        self._live[live.session] = live
        self._supervisors[live.session] = Supervisor(live)
        return live

    def _drop(self, session: SessionId) -> None:
        self._live.pop(session, None)
        self._supervisors.pop(session, None)

    async def open(self, spec: OpenSpec, *, principal: str, request: str) -> SessionId:
        """Open a session once: the same request again gives the same session.

        Raises:
            AgentError: there is no such agent here, or it cannot be started like that.
            BusyError: too many agents are running, or another program has the conversation.
            StorageError: it could not be made durable.
        """
        session = session_id(principal, request)
        try:
            return self.get(session).session
        except SessionNotFoundError:
            pass
        await self.make_room()
        installed = await self._services.shelf.get(spec.agent)
        await refuse_second_writer(self._services, spec, session)
        past = await past_of(self._services, spec)
        if session in self._live:  # the same request, twice at once
            return session
        if self._services.agents >= self._services.limits.agents:  # somebody was quicker
            raise BusyError(FULL)
        installed.agent.launch(spec, installed.capabilities)  # refused before anything is started
        now_ms = self._services.now_ms()
        live = self._keep(LiveSession(new_memory(session, now_ms), self._services))
        live.installed = installed
        context = Context(
            now_ms=now_ms,
            principal=principal,
            incarnation=IncarnationId(self._services.new_id("inc")),
            kind=installed.agent.kind,
            version=installed.capabilities.version,
            kept=installed.agent.options.kept_in(spec.mode),
        )
        step = live.step()
        step.begun(open_session(spec, context), past)
        try:
            live.commit(step)
        except FlybridgeError:
            supervisor = self._supervisors[session]
            self._drop(session)
            await supervisor.close()
            self._recover_journal()
            raise
        self.on_live(live)
        return session

    def _recover_journal(self) -> None:
        """A session that lives would do it when it comes back; there may be none."""
        try:
            self._services.journal.recover()
        except StorageError:
            pass  # the disk refuses still; the next one who opens a session tries again

    async def recover(self) -> int:
        """Take over every agent an earlier gateway left; returns how many there were."""
        rows = self._services.journal.live()
        limit = asyncio.Semaphore(ADOPTING_AT_ONCE)

        async def one(session: SessionId) -> None:
            async with limit:
                _, outbox = self._load(session)
                await self._supervisors[session].take_over(outbox)

        await asyncio.gather(*(one(session) for session in {row.session for row in rows}))
        for row in self._services.journal.sessions():
            if DELETING in row.labels:
                self.get(row.session)
                self._supervisors[row.session].carry_out(Forget())
        return len(rows)

    @property
    def services(self) -> Services:
        return self._services

    async def make_room(self) -> None:
        """See that one more agent may start: an idle one may have to go for it.

        Raises:
            BusyError: as many run as may, and all of them are at work.
        """
        if not await self._eviction.make_room(list(self._live.values())):
            raise BusyError(FULL)

    def withdraw(self, principal: str) -> None:
        """Whatever somebody said that still waits for its agent is not sent any more."""
        for live in list(self._live.values()):
            if live.down is None:
                step = live.step()
                step.decided(withdraw(live.memory.state, principal))
                live.save_if_durable(step)

    def sweep(self) -> int:
        """Put away agents that have been idle for too long, and show which ones have been
        silent for too long: no event says so."""
        for live in list(self._live.values()):
            before = live.showing.last.why
            if live.down is None:
                live.showing.refresh(live.memory, self._services.now_ms())
            if live.showing.last.why != before:
                self._services.hub.show_view(live.session)
        return self._eviction.sweep(list(self._live.values()))

    def rows(self) -> list[SessionRow]:
        return list(self._services.journal.sessions())

    def loaded(self, session: SessionId) -> LiveSession | None:
        return self._live.get(session)

    def holder_of(self, agent_session: str) -> SessionId | None:
        """The session whose living agent has this conversation of its own open."""
        for session, live in self._live.items():
            state = live.memory.state
            if state.phase != "none" and state.agent_session == agent_session:
                return session
        return None

    def agents(self) -> int:
        """How many agents live or are being started."""
        return self._services.agents

    def keepers(self) -> list[tuple[int, str]]:
        """The keepers of all living agents: (pid, start time); and agents of people's own."""
        rows = [live.memory.incarnation for live in self._live.values()]
        dial_ins = self._services.dial_ins
        return [
            (row.keeper_pid, row.keeper_start)
            for row in rows
            if row is not None and row.state != "ended" and row.keeper_pid
        ] + (dial_ins.holders() if dial_ins is not None else [])

    def kept_by(self, pid: int, start: str) -> SessionId | None:
        """Return the session whose agent this keeper holds, or held last."""
        for session, live in self._live.items():
            row = live.memory.incarnation
            if row is not None and (row.keeper_pid, row.keeper_start) == (pid, start):
                return session
        return None

    async def stop_agent(self, session: SessionId) -> None:
        """End a session's agent; the session stays and can go on later."""
        self.get(session)
        await self._supervisors[session].stop()

    async def close(self) -> None:
        """Put everything away; agents stay with their keepers."""
        await asyncio.gather(*(one.close() for one in self._supervisors.values()))
        if self._services.dial_ins is not None:
            await self._services.dial_ins.close()


def session_id(principal: str, request: str) -> SessionId:
    """The name of the session that this request opens, however often it is sent."""
    return SessionId("ses_" + uuid5(_SESSIONS, f"{principal}\n{request}").hex[:20])
