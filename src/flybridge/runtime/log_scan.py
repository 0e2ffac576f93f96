"""Some kinds of events, found in a long log without decoding the rest of it.

A log is read in slices, and the loop may do something else between two of them: nobody waits
for a look at a million events.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

import msgspec

from flybridge.model.deliveries import Batch, Entry
from flybridge.model.events import Event
from flybridge.model.ids import SessionId
from flybridge.session.ports import Journal
from flybridge.wire.native.messages import EventLine, decode_gateway

SLICE_BYTES = 256 * 1024
_events: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Wanted:
    """Which events somebody looks for. The tag of an event is the first thing in it."""

    def __init__(self, *kinds: type) -> None:
        tags = (re.escape(str(kind.__struct_config__.tag)) for kind in kinds)  # type: ignore[attr-defined]
        self._hint = re.compile(rb'"event":\{"type":"(?:%b)"' % "|".join(tags).encode())
        self._kinds = kinds

    def found_in(self, batch: Batch) -> Iterator[Entry]:
        """Its events of these kinds. The hint may be wrong about a line, and only costs time."""
        if batch.entries is not None:
            yield from (one for one in batch.entries if isinstance(one.event, self._kinds))
        elif self._hint.search(batch.wire):
            for line in batch.wire.split(b"\n"):
                if self._hint.search(line):
                    yield from self._decoded(line)

    def _decoded(self, line: bytes) -> Iterator[Entry]:
        message = decode_gateway(line)
        if isinstance(message, EventLine):
            event = _events.decode(message.event)
            if isinstance(event, self._kinds):
                yield Entry(seq=message.seq, at_ms=message.at_ms, event=event)


class Slice(msgspec.Struct, frozen=True):
    """What one slice of a log held, and where it ends."""

    entries: list[Entry]
    last_seq: int
    size: int


async def slices(
    journal: Journal, session: SessionId, after: int, wanted: Wanted
) -> AsyncIterator[Slice]:
    """All that follows entry ``after``, slice by slice.

    Raises:
        StorageError: the disk refused.
    """
    while batches := journal.read(session, after, SLICE_BYTES):
        after = batches[-1].last_seq
        entries = [entry for batch in batches for entry in wanted.found_in(batch)]
        yield Slice(entries, after, sum(len(batch.wire) for batch in batches))
        await asyncio.sleep(0)
