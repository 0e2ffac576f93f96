"""What a device says, or why it is not taken; and the other way round, for programs that are one.

Nothing a device sends can do harm: what is not understood is a reason to write into a log, and
never an answer.
"""

from __future__ import annotations

import msgspec

from flybridge.frontends.companion.wire.messages import (
    MAX_SAID_BYTES,
    FromDevice,
    Say,
    SpawnRequest,
    ToDevice,
)

_from_device: msgspec.json.Decoder[FromDevice] = msgspec.json.Decoder(FromDevice)
_to_device: msgspec.json.Decoder[ToDevice] = msgspec.json.Decoder(ToDevice)


class Rejected(msgspec.Struct, frozen=True):
    """Why a frame is ignored. ``spawn``: it wanted an agent, and is told that it gets none."""

    reason: str
    spawn: bool = False


class _Kind(msgspec.Struct):
    type: str = ""


def decode(data: bytes) -> FromDevice | Rejected:
    """One frame of a device."""
    if len(data) > MAX_SAID_BYTES:
        return Rejected(f"longer than {MAX_SAID_BYTES} bytes")
    try:
        message = _from_device.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Rejected(str(error)[:200], spawn=_wants_agent(data))
    if isinstance(message, Say) and not message.command.strip():
        return Rejected("a command without text")
    return message


def _wants_agent(data: bytes) -> bool:
    tag = SpawnRequest.__struct_config__.tag
    try:
        return msgspec.json.decode(data, type=_Kind).type == tag
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def decode_for_device(data: bytes) -> ToDevice | Rejected:
    """One frame of a server, as a device reads it."""
    try:
        return _to_device.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Rejected(str(error)[:200])
