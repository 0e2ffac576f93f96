"""Coming back as the opener: the key of a session, shown by a process that did not open it.

Who opens a session may make a key for it. The gateway is told its digest, which is in the
session's labels; the key itself is only ever seen when it is shown here, and is not kept. An
agent is refused with any key: whatever it has found, it cannot approve.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated

import msgspec

from flybridge.errors import InvalidRequestError, NotAllowedError
from flybridge.model.ids import SessionId
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import KEY, Caller

MAX_KEY = 200


class ClaimParams(msgspec.Struct, kw_only=True):
    session: SessionId
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_KEY)]


class Claims:
    """Answers who shows a key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def table(self) -> dict[str, Question]:
        return {"claim": Question("spawn", ClaimParams, self.claim, audited=True)}

    async def claim(self, caller: Caller, params: ClaimParams) -> object:
        """Let this process decide in the session, as long as it lives and in no other one.

        Raises:
            NotAllowedError: it is an agent's.
            InvalidRequestError: it is not the key of this session, or nobody can tell which
                process it is: what is given to a process needs one.
        """
        if caller.of_agent:
            raise NotAllowedError("approve", why="an agent cannot grant itself anything")
        if not caller.process:
            raise InvalidRequestError("a key is for a program at the gateway's own socket")
        wanted = self._sessions.get(params.session).memory.state.labels.get(KEY, "")
        if not hmac.compare_digest(digest_of(params.key), wanted):
            raise InvalidRequestError("that is not the key of this session")
        self._sessions.openers.add(params.session, caller.process)
        return {}


def digest_of(key: str) -> str:
    """What the gateway may keep of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
