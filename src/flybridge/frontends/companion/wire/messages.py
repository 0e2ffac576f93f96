"""What a small device and its server say to each other: one JSON object a frame, both ways.

The device is a program of a few hundred lines with fixed buffers. What it is sent fits into
them (budget.py); what it says is read by decode.py.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

State: TypeAlias = Literal["working", "waiting", "idle", "error", "done"]
Press: TypeAlias = Literal["yes", "always", "no", "escape"]

MAX_FRAME_BYTES = 3500  # of what we send: a device hangs for good at 4,092
MAX_SAID_BYTES = 128 * 1024  # of what it says
SPAWN = "spawn"  # this word alone is no prompt

NO_FREE_SLOTS = "No free slots"
SLOT_OCCUPIED = "Slot occupied"
SPAWN_FAILED = "Spawn failed"


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", rename="camel"):
    """Shared settings: the wire writes camel case, and names its types in ``type``."""


# ---- to the device -------------------------------------------------------------------------------


class AgentStatus(_Message, frozen=True, kw_only=True, tag="agent_status"):
    """How one slot is now. Sent for slots in use only, at most twice a second for each."""

    agent: str  # the slot's name, at most 31 bytes, without quotes, backslashes or controls
    state: State
    progress: int = -1  # not known
    message: str = ""  # at most 127 bytes; the handheld does not draw it
    context_percent: int | UnsetType = UNSET  # how full the model's memory is
    prompt_tool_type: str | UnsetType = UNSET  # at most 63 bytes; there while something waits
    prompt_tool_detail: str | UnsetType = UNSET  # at most 1,023 bytes; 540 fit on the screen
    prompt_description: str | UnsetType = UNSET  # at most 255 bytes; not drawn either
    auto_edit: bool | UnsetType = UNSET  # whether edits inside the project need no prompt
    slot: int
    active: bool  # whether the slot's process lives


class SpawnResult(_Message, frozen=True, kw_only=True, tag="spawn_result"):
    """What became of a wish for an agent; comes before that slot's first status."""

    slot: int
    success: bool
    error: str | UnsetType = UNSET  # "No free slots", "Slot occupied", "Spawn failed"


ToDevice: TypeAlias = AgentStatus | SpawnResult


# ---- from the device -----------------------------------------------------------------------------


class Action(_Message, frozen=True, kw_only=True, tag="action"):
    """A button: the answer to the prompt that the device shows, or an interrupt."""

    action: Press
    agent: str = ""  # a slot's name; with slot 0 or none, the name says which
    slot: int | None = None


class Say(_Message, frozen=True, kw_only=True, tag="command"):
    """A prompt for the slot's agent; the word `spawn` alone wants an agent in a free slot."""

    command: str
    agent: str = ""
    slot: int | None = None


class Configure(_Message, frozen=True, kw_only=True, tag="config"):
    """Switch auto-edit, for every slot the device has; answered by the value now in force."""

    agent: str = ""
    auto_edit: bool | None = None  # nothing: only tell it


class SpawnRequest(_Message, frozen=True, kw_only=True, tag="spawn_request"):
    """A wish for an agent in this slot."""

    slot: int


class Auth(_Message, frozen=True, kw_only=True, tag="auth"):
    """Who a device is, if it can say so: then nobody has to pair it. The first frame, if any."""

    token: str


FromDevice: TypeAlias = Action | Say | Configure | SpawnRequest | Auth
