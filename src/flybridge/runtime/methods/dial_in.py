"""What can be asked about agents that connect to us: where a person's own finds us."""

from __future__ import annotations

import asyncio

import msgspec

from flybridge.errors import BusyError, NotSupportedError
from flybridge.model.ids import SessionId
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller

UP_S = 10.0  # for the one that stands in to be there
AGAIN_S = 0.02
SLOT = "companion.slot"  # the label of a session that is in a slot


class DialInParams(msgspec.Struct, kw_only=True):
    session: SessionId


class DialInAnswer(msgspec.Struct, kw_only=True):
    url: str


class DialInQuestions:
    """Their table."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def table(self) -> dict[str, Question]:
        return {"dial_in": Question("spawn", DialInParams, self.dial_in, audited=True)}

    async def dial_in(self, _: Caller, params: DialInParams) -> DialInAnswer:
        """The address for an agent that is started by hand.

        Raises:
            NotSupportedError: the session starts its agent itself.
            BusyError: one is connected, or none can connect now.
        """
        live = self._sessions.get(params.session)
        deadline = asyncio.get_running_loop().time() + UP_S
        while live.memory.state.phase == "starting":
            if asyncio.get_running_loop().time() > deadline:
                raise BusyError("it is still being started")
            await asyncio.sleep(AGAIN_S)
        row, dial_ins = live.memory.incarnation, self._sessions.services.dial_ins
        if row is None or row.transport != "by_hand":
            raise NotSupportedError(_in_use(live))
        known = dial_ins.of(row.incarnation) if dial_ins is not None else None
        if known is None or dial_ins is None:
            raise BusyError("nobody is waited for: the session has no agent")
        if known.link.met:
            raise BusyError("an agent is connected already")
        return DialInAnswer(url=dial_ins.url(row, known.place))


def _in_use(live: LiveSession) -> str:
    slot = live.memory.state.labels.get(SLOT, "")
    if slot:
        return f"Slot {slot} is in use by session {live.session}; choose a free slot."
    return f"The agent of session {live.session} is started by the gateway, not by hand."
