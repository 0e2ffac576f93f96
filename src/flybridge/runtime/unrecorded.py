"""Interrupts and denials while the journal cannot record them.

Neither grants anything, and an agent that runs away must be stoppable with a full disk. Such
a line is not counted, never repeated, and its reply says that it is not recorded; what
the agent makes of it is, once the journal works again.
"""

from __future__ import annotations

from flybridge.errors import NotSupportedError
from flybridge.model import commands as c
from flybridge.runtime.live_session import LiveSession
from flybridge.session import ledger


def pass_on(session: LiveSession, command: c.Command, *, principal: str, request: str) -> None:
    """Say it to the agent as the last committed state would put it.

    Raises:
        NotSupportedError: there is nobody to say it to, or the turn it means is over.
    """
    if session.link is None or session.installed is None or session.memory.incarnation is None:
        raise NotSupportedError("there is no agent to tell")
    turn = session.showing.last.turn
    if isinstance(command, c.Interrupt) and command.turn not in ("", turn):
        raise NotSupportedError("that turn is over")
    driver = session.new_driver()
    key = ledger.key_of(command, principal, request)
    driver.send(session.session, command, key, session.services.now_ms())
    for line in driver.take().lines:
        session.link.urgent(line.data)
