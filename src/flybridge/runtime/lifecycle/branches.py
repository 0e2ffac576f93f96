"""Going on from a session that is there: with it, with a copy, or where it left off.

All three open sessions, and an agent keeps no lock on its own conversations: so the rules of
opening hold here too, and what the first session was granted has to be granted again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.model.ids import SessionId
from flybridge.model.legacy_options import start_fields
from flybridge.runtime.methods.sessions import OpenParams, Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller
from flybridge.session.modes import default_mode
from flybridge.session.state import State


class BranchParams(msgspec.Struct, kw_only=True):
    session: SessionId
    request: str
    title: str = ""
    model: str = ""
    labels: dict[str, str] = {}


class Branches:
    """Opens sessions that have another one as their example."""

    def __init__(
        self, sessions: Sessions, open_: Callable[[Caller, OpenParams], Awaitable[object]]
    ) -> None:
        self._sessions = sessions
        self._open = open_

    def table(self) -> dict[str, Question]:
        return {
            "resume": Question("spawn", BranchParams, self.resume, audited=True),
            "continue": Question("spawn", BranchParams, self.continue_, audited=True),
            "fork": Question("spawn", BranchParams, self.fork, audited=True),
        }

    async def resume(self, caller: Caller, params: BranchParams) -> object:
        """Go on with a session. One that is not closed goes on by itself with its next input;
        of one that is, the conversation goes on in a new session."""
        state = self._sessions.get(params.session).memory.state
        if not state.closed:
            return {"session": params.session}
        wanted = await self._like(state, params, resume=_conversation(state))
        return await self._open(caller, wanted)

    async def continue_(self, caller: Caller, params: BranchParams) -> object:
        """Go on, in a new session, with what was last talked about in this one's directory."""
        state = self._sessions.get(params.session).memory.state
        wanted = await self._like(state, params, continue_latest=True)
        return await self._open(caller, wanted)

    async def fork(self, caller: Caller, params: BranchParams) -> object:
        """Go on with a copy, in a new session; this one stays as it is."""
        state = self._sessions.get(params.session).memory.state
        wanted = await self._like(state, params, resume=_conversation(state), fork=True)
        return await self._open(caller, wanted)

    async def _like(
        self,
        state: State,
        params: BranchParams,
        *,
        resume: str = "",
        fork: bool = False,
        continue_latest: bool = False,
    ) -> OpenParams:
        """Return what opens a session like another one.

        The default mode of the agent is not passed on: nobody need have chosen it.

        Raises:
            AgentUnavailableError: its agent is not configured as the kind it was.
        """
        shelf = self._sessions.services.shelf
        refusal = shelf.refusal(state.agent, state.kind, runs=False)
        if refusal is not None:
            raise refusal
        modes = (await shelf.capabilities(state.agent)).known_modes
        return OpenParams(
            agent=state.agent,
            cwd=state.cwd,
            request=params.request,
            title=params.title or state.title,
            model=params.model or state.model,
            mode="" if state.mode == default_mode(modes) else state.mode,
            labels=params.labels,
            **start_fields(state.start),
            configured=False,
            resume=resume,
            fork=fork,
            continue_latest=continue_latest,
        )


def _conversation(state: State) -> str:
    if not state.agent_session or not state.spoke:
        raise InvalidRequestError("nothing was said in it that an agent could go on with")
    return state.agent_session
