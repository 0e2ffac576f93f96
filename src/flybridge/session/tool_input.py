"""A tool's input as people allow it: whether it says something else than was asked, and how
much of it an event can hold."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.session.ports import BLOB_BYTES

_NOT_JSON = (msgspec.MsgspecError, ValueError, RecursionError)


class Kept(msgspec.Struct, frozen=True):
    """An input as an event has it: itself, or, when it is too long for a row, its blob."""

    input: Raw | UnsetType = UNSET
    blob: str = ""
    blobs: dict[str, bytes] = {}


def is_object(raw: Raw) -> bool:
    try:
        return isinstance(msgspec.json.decode(bytes(raw)), dict)
    except _NOT_JSON:
        return False


def meaning_of(raw: Raw) -> str:
    """What two inputs have in common that say the same, however they are written down: a front
    end that hands an input back as it understood it has not changed it. "": it is not JSON."""
    try:
        value = msgspec.json.decode(bytes(raw))
        return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()
    except _NOT_JSON:
        return ""


def kept(raw: Raw) -> Kept:
    """A JSON document for an event: on one line, because an event is one."""
    data = msgspec.json.format(bytes(raw), indent=-1)
    if len(data) <= BLOB_BYTES:
        return Kept(input=Raw(data))
    digest = hashlib.sha256(data).hexdigest()
    return Kept(blob=digest, blobs={digest: data})
