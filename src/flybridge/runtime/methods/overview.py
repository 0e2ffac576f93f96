"""The questions that reach beyond one session, or beyond its state: one table of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from pathlib import Path

import msgspec

from flybridge.errors import AgentError
from flybridge.model.capabilities import Mode
from flybridge.model.options import Option
from flybridge.runtime.access.claims import Claims
from flybridge.runtime.lifecycle.branches import Branches
from flybridge.runtime.methods.agent_info import AgentInfo
from flybridge.runtime.methods.dial_in import DialInQuestions
from flybridge.runtime.methods.file_search import FileParams, FileSearch, FoundFiles
from flybridge.runtime.methods.inbox import Inbox
from flybridge.runtime.methods.panels import Panels
from flybridge.runtime.methods.sessions import NoParams, Question, SessionQuestions
from flybridge.runtime.methods.totals import Totals
from flybridge.runtime.services import Services
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller
from flybridge.session.modes import in_order

SEARCHES_AT_ONCE = 4


class KnownAgent(msgspec.Struct, kw_only=True):
    """An agent by its name; ``problem`` is the code of why it cannot be used."""

    name: str
    installed: bool
    problem: str = ""
    version: str = ""
    echoes_input: bool = False
    resumes: bool = False
    commands: list[str] = []
    at_start: list[str] = []
    queries: list[str] = []
    modes: list[str] = []
    known_modes: list[Mode] = []  # these and others that it may report, with their names
    efforts: list[str] = []
    transports: list[str] = []
    options: list[Option] = []  # the agent's own, as a form shows them
    common: list[str] = []  # effort, budget_usd: those of the common options that it takes
    kind: str = ""  # which language it speaks
    history: bool = False  # its past conversations can be listed: GET /history


class Agents(msgspec.Struct, kw_only=True):
    agents: list[KnownAgent]
    default: str = ""  # which one to offer first
    folder: str = ""  # where the gateway was started: a folder to offer where none is known yet


class Overview:
    """All of them; the desk takes them as its extra questions."""

    def __init__(
        self,
        services: Services,
        sessions: Sessions,
        *,
        default_agent: str = "",
        histories: Collection[str] = (),
    ) -> None:
        """``histories``: kinds of agents whose past conversations can be listed."""
        self._services = services
        self._histories = histories
        self._default_agent = default_agent
        self._folder = _started_in()
        self._sessions = sessions
        self._files = FileSearch()
        self._searching = asyncio.Semaphore(SEARCHES_AT_ONCE)

    def table(self) -> dict[str, Question]:
        sessions, journal = self._sessions, self._services.journal
        panels = Panels(sessions, journal)
        opening = SessionQuestions(sessions, journal, self._services.blobs)
        return {
            "agents": Question("view", NoParams, self.agents),
            "files": Question("input", FileParams, self.files),
            **panels.table(),
            **AgentInfo(sessions, panels).table(),
            **DialInQuestions(sessions).table(),
            **Claims(sessions).table(),
            **Inbox(sessions, panels).table(),
            **Totals(sessions, journal, self._services.now_ms).table(),
            **Branches(sessions, opening.open).table(),
        }

    async def agents(self, _: Caller, __: NoParams) -> Agents:
        found = [await self._agent(name) for name in self._services.shelf.names()]
        return Agents(agents=found, default=self._default_agent, folder=self._folder)

    async def _agent(self, name: str) -> KnownAgent:
        agent = self._services.shelf.agent(name)
        schema, kind = agent.options, agent.kind
        try:
            can = (await self._services.shelf.get(name)).capabilities
        except AgentError as error:
            return KnownAgent(
                name=name,
                kind=kind,
                history=kind in self._histories,
                installed=False,
                problem=error.code,
                options=list(schema),
                common=sorted(schema.common),
            )
        return KnownAgent(
            name=name,
            kind=kind,
            history=kind in self._histories,
            installed=True,
            version=can.version,
            echoes_input=can.echoes_input,
            resumes=can.resumes,
            commands=sorted(can.commands),
            at_start=sorted(can.at_start),
            queries=sorted(can.queries),
            modes=in_order(can.known_modes, can.modes),
            known_modes=list(can.known_modes),
            efforts=sorted(can.efforts),
            transports=sorted(can.transports),
            options=list(schema),
            common=sorted(schema.common),
        )

    async def files(self, _: Caller, params: FileParams) -> FoundFiles:
        folder = self._sessions.get(params.session).memory.state.cwd
        async with self._searching:
            return await asyncio.to_thread(self._files.find, folder, params.query, params.limit)


def _started_in() -> str:
    """A service is started in the root, which is nobody's project."""
    try:
        folder = str(Path.cwd())
    except OSError:  # somebody removed it
        return ""
    return "" if folder == "/" else folder
