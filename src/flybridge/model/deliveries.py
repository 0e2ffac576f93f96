"""What a client gets: events, previews, gauges, views and the one reply to each request."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

import msgspec
from msgspec import UNSET, Raw, UnsetType

from flybridge.model.events import Event
from flybridge.model.ids import ItemId, SessionId


class Stage(IntEnum):
    """How far an input has come. On the wire: the lower-case name."""

    ACCEPTED = 1
    WRITTEN = 2
    OBSERVED = 3
    DONE = 4


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """An event and its place in one session's log: 1, 2, 3 … without gaps."""

    seq: int
    at_ms: int
    event: Event


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """One step: one journal row, one native message, one SSE chunk.

    ``wire`` holds the entries as native lines joined by newlines (no newline at the end),
    encoded once and shared by the journal and by every client.
    """

    session: SessionId
    epoch: int
    first_seq: int
    count: int
    wire: bytes
    entries: tuple[Entry, ...] | None = None  # there when live; decoded on demand when replayed

    @property
    def last_seq(self) -> int:
        return self.first_seq + self.count - 1


class Preview(msgspec.Struct, frozen=True, gc=False):
    """The growing text of an open item. Never journaled.

    ``since`` and ``upto`` count the agent's deltas, not characters (Python and JavaScript
    count those differently): append ``text`` when ``since`` equals what you have; ``since``
    0 replaces.
    """

    item: ItemId
    since: int
    upto: int
    text: str


class Gauge(msgspec.Struct, frozen=True):
    """A reading of which only the latest matters: usage, context, seconds in a tool."""

    name: str
    value: Raw


class Answer(msgspec.Struct, frozen=True):
    """An agent's answer to a query; never journaled."""

    ref: str
    value: Raw | UnsetType = UNSET
    error: str = ""


class Shown(msgspec.Struct, frozen=True):
    session: SessionId
    what: Preview | Gauge


class View(msgspec.Struct, frozen=True):
    """State derived once, in Python; latest wins. ``seq`` says up to which event."""

    session: SessionId
    seq: int
    state: Raw


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """Exactly one per Submit, Attach and Ask. ``error`` is a stable code, ``message`` is text."""

    ref: str
    stage: Stage | None = None
    value: Raw | UnsetType = UNSET
    error: str = ""
    message: str = ""
    duplicate: bool = False


Delivery: TypeAlias = Batch | Shown | View | Reply
