"""On which terms a command is taken. A front end may have rules of its own; the ledger is one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from flybridge.model.commands import Command
from flybridge.session.decide import Context, decide
from flybridge.session.effects import Decision
from flybridge.session.state import State


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What differs from a command as such.

    ``fingerprint``: what makes two requests the same one, where they say more than the command
    does. ``decide`` takes the place of the usual decision, for a key that is not taken yet.
    """

    fingerprint: str = ""
    decide: Callable[[State, Command, Context], Decision] = decide
    starts: bool = True  # an agent may be started for it


USUAL = Terms()
