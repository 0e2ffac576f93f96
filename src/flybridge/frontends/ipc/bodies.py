"""What is too long for an event is a blob: which ones an event needs, and the whole of it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model import events as ev

_ANY: msgspec.json.Decoder[dict[str, Raw]] = msgspec.json.Decoder(dict[str, Raw])
Blobs = Mapping[str, bytes]


def fields(raw: Raw | bytes | UnsetType) -> dict[str, Raw]:
    """The fields of an object; none of anything else."""
    if raw is UNSET:
        return {}
    try:
        return _ANY.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return {}


def text(raw: Raw | UnsetType, default: str = "") -> str:
    """A string; ``default`` for anything else."""
    if raw is UNSET:
        return default
    try:
        return msgspec.json.decode(raw, type=str)
    except (msgspec.MsgspecError, ValueError):
        return default


def number(raw: Raw | UnsetType) -> float:
    if raw is UNSET:
        return 0.0
    try:
        return msgspec.json.decode(raw, type=float)
    except (msgspec.MsgspecError, ValueError):
        return 0.0


def wanted(event: ev.Event) -> list[str]:
    """The digests of the blobs without which this event is not whole."""
    found: list[str] = []
    match event:
        case ev.TextDone() | ev.ThinkingDone() | ev.ToolStarted():
            found.append(event.blob)
        case ev.ToolResult(blob=blob, detail=detail):
            found += [blob, _blob_in(detail)]
        case ev.AgentReady(detail=detail):
            found.append(_blob_in(detail))
        case _:
            pass
    return [one for one in found if one]


def _blob_in(detail: Raw | UnsetType) -> str:
    return text(fields(detail).get("_blob", UNSET))


def whole_text(said: str, blob: str, blobs: Blobs) -> str:
    data = blobs.get(blob) if blob else None
    return said if data is None else data.decode("utf-8", "replace")


def whole_detail(detail: Raw | UnsetType, blobs: Blobs) -> Raw | UnsetType:
    data = blobs.get(_blob_in(detail))
    return detail if data is None else Raw(data)
