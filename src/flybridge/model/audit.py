"""What the audit log is told: who did what, or was refused. Never a secret, never a text."""

from __future__ import annotations

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that somebody did or tried."""

    event: str  # login, token.create, open, answer_permission …
    outcome: str  # done, refused, failed
    code: str = ""  # why it was refused
    principal: str = ""
    credential: str = ""
    door: str = ""  # unix, http, websocket
    source: str = ""  # where it came from, as far as the door can tell
    session: str = ""
    request: str = ""
    team: str = ""  # of control messages, as are the four below
    agent_id: str = ""
    sender: str = ""
    result: str = ""
    duplicate: str = ""  # true, false
    target: str = ""  # the prompt, the token, the route
    detail: str = ""
