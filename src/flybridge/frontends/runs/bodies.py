"""What is too long for an event is a blob: which one an event needs, and the whole of it."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from flybridge.model import events as e


def blob_of(event: e.Event | None) -> str:
    """The digest of the blob without which this event tells only its beginning."""
    if isinstance(event, e.TextDone | e.ThinkingDone | e.Plan | e.Diff):
        return event.blob
    return ""


def whole(event: e.Event, data: bytes) -> e.Event:
    """The event, with its long text in it."""
    if isinstance(event, e.Diff):
        return msgspec.structs.replace(event, patch=Raw(data))
    return msgspec.structs.replace(event, text=data.decode(errors="replace"))
