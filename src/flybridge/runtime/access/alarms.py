"""Somebody without the right tried to answer a prompt: those who have it should know.

It is said in the session itself, where they look, and not more often than they can read.
"""

from __future__ import annotations

from collections import OrderedDict

from flybridge.errors import FlybridgeError
from flybridge.model import commands as c
from flybridge.model.events import Notice
from flybridge.runtime.live_session import LiveSession
from flybridge.session.authorisation import Caller
from flybridge.session.effects import Decision

AGAIN_MS = 60_000
MAX_KNOWN = 1024


class Alarms:
    """Says it once a minute for each session and each who tried."""

    def __init__(self) -> None:
        self._said_ms: OrderedDict[tuple[str, str], int] = OrderedDict()

    def refused(self, live: LiveSession, caller: Caller, command: c.Command) -> None:
        """A command was not allowed; of those that grant something, the session hears."""
        if not isinstance(command, c.AnswerPermission | c.AnswerQuestion | c.SetMode):
            return
        now_ms, who = live.services.now_ms(), (live.session, caller.principal)
        if live.down is not None or now_ms - self._said_ms.get(who, -AGAIN_MS) < AGAIN_MS:
            return
        self._said_ms[who] = now_ms
        self._said_ms.move_to_end(who)
        if len(self._said_ms) > MAX_KNOWN:
            self._said_ms.popitem(last=False)
        name = "an agent" if caller.of_agent else caller.principal
        tried = str(command.__struct_config__.tag).replace("_", " ")
        said = f"{name} tried to {tried}, by {caller.door}, and was refused"
        step = live.step()
        step.decided(Decision([Notice(text=said, level="warning")], []))
        try:
            live.commit(step)
        except FlybridgeError:
            pass  # the session is down, which says enough
