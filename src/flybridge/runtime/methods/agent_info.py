"""Answer the product's typed questions about a session's agent (``model.queries``)."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from flybridge.model.ids import SessionId
from flybridge.model.queries import (
    CommandInfo,
    Commands,
    Modes,
    QueryName,
    QueryResult,
)
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.panels import Panels
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller


class InfoParams(msgspec.Struct, kw_only=True):
    session: SessionId
    name: QueryName
    params: Raw = Raw(b"{}")  # rewind_preview: ``key`` of an input


class AgentInfo:
    """The modes and commands that an agent published, and what it is asked while it runs."""

    def __init__(self, sessions: Sessions, panels: Panels) -> None:
        self._sessions = sessions
        self._panels = panels

    def table(self) -> dict[str, Question]:
        return {"agent_info": Question("view", InfoParams, self.answer)}

    async def answer(self, _: Caller, params: InfoParams) -> QueryResult:
        """Answer one question.

        Raises:
            BusyError: the agent has to be asked, and does not run.
            NotSupportedError: this agent cannot be asked that.
            QueryFailedError: it refused, died, took too long, or made no sense.
        """
        live = self._sessions.get(params.session)
        if params.name == "modes":
            return _modes(live)
        if params.name == "commands":
            ready = (await self._panels.gathered(live)).ready
            known = ready.commands if ready else {}
            return Commands(
                commands=tuple(
                    CommandInfo(name=name, runs=runs) for name, runs in sorted(known.items())
                )
            )
        return await live.queries.info(params.name, params.params)


def _modes(live: LiveSession) -> Modes:
    state, shelf = live.memory.state, live.services.shelf
    installed = live.installed or shelf.running(state.agent, state.kind, state.version)
    can = installed.capabilities if installed is not None else None
    known = can.known_modes if can is not None else ()
    return Modes(modes=tuple(mode for mode in known if can is not None and mode.id in can.modes))
