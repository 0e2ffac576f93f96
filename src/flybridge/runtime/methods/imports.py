"""Conversations an agent had before become sessions without anybody being started.

All of a session is one commit under a name made of the conversation's: however often it is
imported, and wherever that is cut off, it is there once and whole, or not at all.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from flybridge.errors import (
    InvalidRequestError,
    NotSupportedError,
    SessionNotFoundError,
    StorageError,
)
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec
from flybridge.model.ids import IncarnationId, SessionId
from flybridge.model.options import AgentOptions
from flybridge.runtime.access.folders import check_folder, settings_in
from flybridge.runtime.committed import note_committed
from flybridge.runtime.lifecycle.past import read_past, refuse_second_writer
from flybridge.runtime.sessions import Sessions, session_id
from flybridge.runtime.unit_of_work import Step, new_memory
from flybridge.session.authorisation import Caller
from flybridge.session.decide import Context, import_session
from flybridge.session.ports import Agent, IncarnationRow, Past

IMPORTED = "flybridge.imported"  # the label that names the conversation
MAX_TITLE = 200


class ImportParams(msgspec.Struct, kw_only=True):
    agent: str
    conversation: str  # the agent's own id of it
    title: str = ""  # none: what the agent called it
    archived: bool = True


class Imported(msgspec.Struct, kw_only=True):
    """The session of a conversation; ``known``: there was one already, and it is as it was."""

    session: SessionId
    conversation: str
    known: bool = False
    title: str = ""
    cwd: str = ""
    turns: int = 0
    left_out: int = 0


class Imports:
    """Makes sessions of conversations; the first input to one goes on with it."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._services = sessions.services

    async def answer(self, caller: Caller, params: ImportParams) -> Imported:
        """Keep a conversation as a session, once.

        Raises:
            AgentNotFoundError: no such agent is configured.
            NotSupportedError: this agent keeps no conversations that we can read.
            SessionNotFoundError: it has no such conversation.
            BusyError: somebody is still having it.
            FolderNotTrustedError: its folder brings settings that the agent cannot leave out.
            StorageError: the disk refused.
        """
        known = self._session_of(params)
        if known is not None:
            return known
        past = await self._past(params)
        agent = self._services.shelf.agent(params.agent)
        cwd, options = await asyncio.to_thread(self._place, agent, Path(past.cwd))
        past = msgspec.structs.replace(past, cwd=cwd)
        return self._session_of(params) or self._keep(caller, params, past, options)

    async def _past(self, params: ImportParams) -> Past:
        if self._services.conversations is None:
            raise NotSupportedError("no conversations are read here")
        spec = OpenSpec(agent=params.agent, cwd="", agent_session=params.conversation, resume=True)
        await refuse_second_writer(self._services, spec, SessionId(""))
        past = await asyncio.to_thread(
            read_past, self._services, params.agent, params.conversation, ""
        )
        if past is None:
            raise NotSupportedError(f"{params.agent} keeps no conversations that can be read")
        if not Path(past.cwd).is_absolute() or not _began(past).turns:
            raise InvalidRequestError("nothing was said in it")
        return past

    def _place(self, agent: Agent, cwd: Path) -> tuple[str, AgentOptions]:
        """Return the resolved folder, which need not exist any more, and the options for it.

        Nobody is asked about a folder now, and its first message may come much later: what it
        brings along is left out, unless it is trusted already. An agent that cannot leave it out
        needs the trust now, if there is anything."""
        trusted = self._services.trusted
        without = agent.restricted({})
        try:
            cwd = cwd.resolve()
        except (OSError, RuntimeError):  # a loop of links: no agent starts there
            return str(cwd), without or {}
        trusting = self._services.folder_settings == "trust"
        if trusted is None or trusting or trusted.holds(cwd, agent.kind):
            return str(cwd), {}
        if without is None:
            check_folder(trusted, agent, cwd, settings_in(cwd, agent.trust_files))
        return str(cwd), without or {}

    def _session_of(self, params: ImportParams) -> Imported | None:
        """The session that has this conversation, whoever opened it and how."""
        wanted, kind = imported_id(params), self._services.shelf.kind_of(params.agent)
        for row in self._sessions.rows():
            # agents of different kinds may use the same id for different conversations
            same = row.conversation == params.conversation and (not kind or row.kind in ("", kind))
            if row.session == wanted or same:
                return Imported(
                    session=row.session,
                    conversation=params.conversation,
                    known=True,
                    title=row.title,
                    cwd=row.cwd,
                )
        return None

    def _keep(
        self, caller: Caller, params: ImportParams, past: Past, options: AgentOptions
    ) -> Imported:
        services = self._services
        title = (params.title or past.title)[:MAX_TITLE]
        spec = OpenSpec(
            agent=params.agent,
            cwd=past.cwd,
            title=title,
            labels={IMPORTED: params.conversation},
            agent_session=params.conversation,
            resume=True,
            agent_options=options,
        )
        now_ms = services.now_ms()
        kind = services.shelf.kind_of(spec.agent)
        context = Context(now_ms=now_ms, principal=caller.principal, kind=kind)
        step = Step(new_memory(imported_id(params), now_ms), now_ms, services.blobs, _no_agent)
        step.begun(import_session(spec, context, archived=params.archived), past.events)
        write = step.write()
        try:
            services.journal.commit(write)
        except StorageError:
            services.journal.recover()  # there is no session that would see to it
            raise
        note_committed(services, write)
        began = _began(past)
        return Imported(
            session=step.memory.session,
            conversation=params.conversation,
            title=title,
            cwd=past.cwd,
            turns=began.turns,
            left_out=began.left_out,
        )


def imported_id(params: ImportParams) -> SessionId:
    """The session of an imported conversation, whoever imports it and however often."""
    return session_id(IMPORTED, f"{params.agent}\n{params.conversation}")


def _began(past: Past) -> e.History:
    first = past.events[0][1]
    assert isinstance(first, e.History)
    return first


def _no_agent(_: IncarnationId) -> IncarnationRow:
    raise SessionNotFoundError("nothing is started by an import")
