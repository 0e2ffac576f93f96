"""What a decision is: events to commit, what they name, and what to do once they are."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec
from flybridge.model.ids import IncarnationId, InputKey


class Send(msgspec.Struct, frozen=True):
    command: c.Command
    key: InputKey


class Start(msgspec.Struct, frozen=True):
    incarnation: IncarnationId
    spec: OpenSpec


class Stop(msgspec.Struct, frozen=True):
    """End the agent politely, then firmly."""


class Kill(msgspec.Struct, frozen=True):
    """End the agent's whole group now."""


class Forget(msgspec.Struct, frozen=True):
    """Delete the session once its agent is gone."""


Effect: TypeAlias = Send | Start | Stop | Kill | Forget


class Decision(msgspec.Struct):
    events: list[e.Event] = []
    effects: list[Effect] = []
    blobs: dict[str, bytes] = {}  # sha256 in hex → what the events name: stored before them
