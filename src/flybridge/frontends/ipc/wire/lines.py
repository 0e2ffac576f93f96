"""IPC messages as lines: read whatever a front end writes, write what it can read."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from flybridge.errors import RemoteProtocolError
from flybridge.frontends.ipc.wire.messages import Inbound, Outbound

_KINDS: dict[str, msgspec.json.Decoder[Any]] = {
    str(kind.__struct_config__.tag): msgspec.json.Decoder(kind) for kind in get_args(Inbound)
}
_SHOWN = 60
_encoder = msgspec.json.Encoder()
_outbound: msgspec.json.Decoder[Outbound] = msgspec.json.Decoder(Outbound)


class _Head(msgspec.Struct):
    type: str


_head = msgspec.json.Decoder(_Head)


def read(line: bytes) -> Inbound | None:
    """One inbound message; None for a line of nothing but blanks.

    Raises:
        RemoteProtocolError: it is none, and what is wrong with it.
    """
    if not line.strip():
        return None
    decoder = _KINDS.get(kind := _kind_of(line))
    if decoder is None:
        raise RemoteProtocolError(f"Unknown message type: {kind[:_SHOWN]}")
    try:
        message: Inbound = decoder.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"Bad {kind}: {str(error)[:200]}") from error
    return message


def _kind_of(line: bytes) -> str:
    try:
        return _head.decode(line).type
    except msgspec.ValidationError as error:
        raise RemoteProtocolError(f"Not a message: {str(error)[:200]}") from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"Not JSON: {str(error)[:200]}") from error


def write(message: Outbound) -> bytes:
    """One line, with its newline."""
    return _encoder.encode(message) + b"\n"


def read_outbound(line: bytes) -> Outbound:
    """One line as a front end reads it.

    Raises:
        RemoteProtocolError: it is no message of ours.
    """
    try:
        return _outbound.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise RemoteProtocolError(f"no outbound message: {str(error)[:200]}") from error
