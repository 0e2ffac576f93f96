"""Going on from a session that is there: with it, with a copy, or where it left off.

All three open sessions, and an agent keeps no lock on its own conversations: so the rules of
opening hold here too, and what the first session was granted has to be granted again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from flybridge.errors import InvalidRequestError
from flybridge.model.ids import SessionId
from flybridge.session.authorisation import Caller
from flybridge.runtime.methods.sessions import OpenParams, Question
from flybridge.runtime.sessions import Sessions
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
        return await self._open(caller, _like(state, params, resume=_conversation(state)))

    async def continue_(self, caller: Caller, params: BranchParams) -> object:
        """Go on, in a new session, with what was last talked about in this one's directory."""
        state = self._sessions.get(params.session).memory.state
        return await self._open(caller, _like(state, params, continue_latest=True))

    async def fork(self, caller: Caller, params: BranchParams) -> object:
        """Go on with a copy, in a new session; this one stays as it is."""
        state = self._sessions.get(params.session).memory.state
        wanted = _like(state, params, resume=_conversation(state), fork=True)
        return await self._open(caller, wanted)


def _conversation(state: State) -> str:
    if not state.agent_session or not state.spoke:
        raise InvalidRequestError("nothing was said in it that an agent could go on with")
    return state.agent_session


def _like(
    state: State,
    params: BranchParams,
    *,
    resume: str = "",
    fork: bool = False,
    continue_latest: bool = False,
) -> OpenParams:
    return OpenParams(
        agent=state.agent,
        cwd=state.cwd,
        request=params.request,
        title=params.title or state.title,
        model=params.model or state.model,
        mode=state.mode if state.mode != "default" else "",
        labels=params.labels,
        options=state.options,
        resume=resume,
        fork=fork,
        continue_latest=continue_latest,
    )
