"""What a client sees of an attached session, typed."""

from __future__ import annotations

from typing import TypeAlias, assert_never

import msgspec
from msgspec import Raw

from flybridge.client.transport.feed import SessionLine
from flybridge.model.events import Event
from flybridge.wire.native import messages as wire


class EventItem(msgspec.Struct, frozen=True):
    """An event and its place in the log. ``event`` is None when this version cannot read it."""

    seq: int
    at_ms: int
    event: Event | None
    raw: bytes


class PreviewItem(msgspec.Struct, frozen=True):
    """More text of an open item: append when ``since`` is what you have, 0 replaces."""

    item: str
    since: int
    upto: int
    text: str


class GaugeItem(msgspec.Struct, frozen=True):
    name: str
    value: bytes


class ViewItem(msgspec.Struct, frozen=True):
    """The state derived from the log up to ``seq``, as JSON."""

    seq: int
    state: bytes


class Reset(msgspec.Struct, frozen=True):
    """The log begins anew in another epoch: drop what was folded so far."""

    epoch: int


class Detached(msgspec.Struct, frozen=True):
    """The gateway ended the attachment; nothing more comes."""

    code: str


Item: TypeAlias = EventItem | PreviewItem | GaugeItem | ViewItem | Reset | Detached

_events: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


def to_item(line: SessionLine) -> Item:
    """Type what came for a session."""
    match line:
        case wire.EventLine(seq=seq, at_ms=at_ms, event=raw):
            return EventItem(seq, at_ms, to_event(raw), bytes(raw))
        case wire.PreviewLine(item=item, since=since, upto=upto, text=text):
            return PreviewItem(item, since, upto, text)
        case wire.GaugeLine(name=name, value=value):
            return GaugeItem(name, bytes(value))
        case wire.ViewLine(seq=seq, state=state):
            return ViewItem(seq, bytes(state))
        case wire.DetachedLine(code=code):
            return Detached(code)
        case _:
            assert_never(line)


def to_event(raw: Raw) -> Event | None:
    """An event of a newer gateway is no error: the raw one can still be kept and shown."""
    try:
        return _events.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
