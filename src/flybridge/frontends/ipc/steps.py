"""What the loop that drives the adapter is to do next, in this order."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from flybridge.model.commands import Command

SwitchTo: TypeAlias = Literal["fork", "continue", "new"]


class Start(msgspec.Struct, frozen=True):
    """The handshake is done: begin, or go on with, the project's conversation."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """Submit a command to the session; ``request`` is its idempotency key.

    ``setting``: the agent must be there to take it. ``patience_ms`` > 0: nobody waits longer
    than that for the agent to have done it. ``quiet``: a refusal is no news.
    """

    command: Command
    request: str
    setting: bool = False
    patience_ms: int = 0
    quiet: bool = False


class Switch(msgspec.Struct, frozen=True):
    """End the agent, and go on in another session."""

    to: SwitchTo


class Show(msgspec.Struct, frozen=True):
    """Collect what a view needs of the gateway, then call ``show``."""

    name: str


class Stop(msgspec.Struct, frozen=True):
    """Write what is left and exit."""

    status: int


Step: TypeAlias = Start | Act | Switch | Show | Stop
