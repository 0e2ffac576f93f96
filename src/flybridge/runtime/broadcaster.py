"""Fan-out: a client is a cursor, not a queue.

A client that keeps up gets each batch as it is committed: the same bytes for everyone. One
that does not is simply left where it is; when its buffer has drained it is fed from the
ring or the journal until it has caught up, and then gets the open texts from their start.
So a slow client costs its transport's buffer and nothing else, and it never slows anyone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from flybridge.errors import StorageError
from flybridge.model.deliveries import Batch, Gauge, Shown, View
from flybridge.model.ids import SessionId
from flybridge.runtime.changes import Changes
from flybridge.session.ports import Journal
from flybridge.wire.native.messages import GaugeLine, PreviewLine, ViewLine, encode

RING_BYTES = 256 * 1024
SLICE_BYTES = 256 * 1024
RETRY_S = 0.5


class Sink(Protocol):
    """Where a client's deliveries go. Called in order, never from another thread.

    ``wire`` is the delivery as a native line, encoded once for everybody who speaks it.
    """

    @property
    def writable(self) -> bool:
        """False while the transport has more buffered than it should."""

    def batch(self, batch: Batch) -> None: ...
    def shown(self, shown: Shown, wire: bytes) -> None: ...
    def view(self, view: View, wire: bytes) -> None: ...
    def detached(self, session: SessionId, code: str) -> None: ...


class Source(Protocol):
    """The session behind a feed: what a client needs besides the log to be up to date."""

    def texts(self) -> list[Shown]:
        """Every open text from its start, and the latest gauges."""

    def view(self) -> View: ...


def wire_of(what: Shown | View) -> bytes:
    """A delivery as a native line."""
    if isinstance(what, View):
        return encode(ViewLine(session=what.session, seq=what.seq, state=what.state))
    inner = what.what
    if isinstance(inner, Gauge):
        return encode(GaugeLine(session=what.session, name=inner.name, value=inner.value))
    return encode(
        PreviewLine(
            session=what.session,
            item=inner.item,
            since=inner.since,
            upto=inner.upto,
            text=inner.text,
        )
    )


class Subscription:
    """One client's place in one session's log."""

    def __init__(
        self, sink: Sink, session: SessionId, after: int, previews: bool, counts: bool = True
    ) -> None:
        self.sink = sink
        self.session = session
        self.after = after
        self.previews = previews
        self.counts = counts
        self.live = False
        self.pumping = False


class Feed:
    """The newest part of one session's log, and who follows it."""

    def __init__(self, session: SessionId, head: int, source: Source) -> None:
        self.session = session
        self.head = head
        self.source = source
        self.subscriptions: list[Subscription] = []
        self._ring: deque[Batch] = deque()
        self._ring_bytes = 0

    def remember(self, batch: Batch) -> None:
        self.head = batch.last_seq
        self._ring.append(batch)
        self._ring_bytes += len(batch.wire)
        while self._ring_bytes > RING_BYTES and len(self._ring) > 1:
            self._ring_bytes -= len(self._ring.popleft().wire)

    def recent(self, after: int) -> list[Batch]:
        """The batches after ``after`` if the ring reaches back that far, else nothing."""
        found = [one for one in self._ring if one.first_seq > after]
        return found if found and found[0].first_seq == after + 1 else []


class Hub:
    """All feeds, and the pumping of clients that are behind."""

    def __init__(self, journal: Journal, changes: Changes | None = None) -> None:
        self._journal = journal
        self.changes = changes or Changes(0)
        self._feeds: dict[SessionId, Feed] = {}

    def feed(self, session: SessionId, head: int, source: Source) -> None:
        """A session has come to life; clients that follow it already stay."""
        self.changes.touched(session)
        known = self._feeds.get(session)
        if known is None:
            self._feeds[session] = Feed(session, head, source)
        else:
            known.head, known.source = head, source

    def attach(
        self, sink: Sink, session: SessionId, *, after: int, previews: bool, counts: bool = True
    ) -> Subscription:
        """Follow a session from ``after``; what the client has already must be up to there.
        ``counts``: somebody is there; False for what the gateway does by itself."""
        feed = self._feeds[session]
        one = Subscription(sink, session, after, previews, counts)
        feed.subscriptions.append(one)
        self._pump_soon(one)
        return one

    def detach(self, subscription: Subscription) -> None:
        feed = self._feeds.get(subscription.session)
        if feed is not None and subscription in feed.subscriptions:
            feed.subscriptions.remove(subscription)

    def followers(self, session: SessionId) -> int:
        """How many are attached to a session."""
        feed = self._feeds.get(session)
        return sum(one.counts for one in feed.subscriptions) if feed is not None else 0

    def drop(self, session: SessionId, code: str) -> None:
        """The session is gone for good: tell everyone who follows it."""
        self.changes.dropped(session)
        feed = self._feeds.pop(session, None)
        for one in feed.subscriptions if feed else []:
            one.sink.detached(session, code)

    def publish_step(
        self, session: SessionId, batches: Sequence[Batch], shown: list[Shown]
    ) -> None:
        """Hand out all of a step: its batches, and behind the last what is merely shown."""
        for batch in batches[:-1]:
            self.publish(session, batch, [])
        self.publish(session, batches[-1] if batches else None, shown)

    def publish(self, session: SessionId, batch: Batch | None, shown: list[Shown]) -> None:
        """Hand out what has just been committed, and then what is merely shown."""
        feed = self._feeds.get(session)
        if feed is None:
            return
        if batch is not None:
            self.changes.touched(session)
            feed.remember(batch)
        live = [one for one in feed.subscriptions if self._keeps_up(one, batch)]
        if not live:
            return
        lines = [(one, wire_of(one)) for one in shown]
        view = feed.source.view() if batch is not None else None
        view_wire = wire_of(view) if view else b""
        for one in live:
            if batch is not None:
                one.sink.batch(batch)
                one.after = batch.last_seq
            if one.previews:
                for what, wire in lines:
                    one.sink.shown(what, wire)
            if view is not None:
                one.sink.view(view, view_wire)

    def show_view(self, session: SessionId) -> None:
        """The view has changed by the clock alone."""
        self.changes.touched(session)
        feed = self._feeds.get(session)
        live = [one for one in feed.subscriptions if self._keeps_up(one, None)] if feed else []
        if feed is not None and live:
            view = feed.source.view()
            wire = wire_of(view)
            for one in live:
                one.sink.view(view, wire)

    def resync(self, session: SessionId) -> None:
        """Open texts were taken back to an earlier point: send them whole again."""
        feed = self._feeds.get(session)
        for one in feed.subscriptions if feed else []:
            one.live = False
            self._pump_soon(one)

    def resume(self, subscriptions: Sequence[Subscription]) -> None:
        """A client's buffer has drained."""
        for one in subscriptions:
            if not one.live:
                self._pump_soon(one)

    def _keeps_up(self, one: Subscription, batch: Batch | None) -> bool:
        """Whether it takes this now; one that does not is left where it is."""
        if not one.live:
            return False
        one.live = one.sink.writable
        if one.live and batch is not None and batch.first_seq != one.after + 1:
            one.live = False
            self._pump_soon(one)
        return one.live

    def _pump_soon(self, one: Subscription) -> None:
        if not one.pumping:
            one.pumping = True
            asyncio.get_running_loop().call_soon(self._pump, one)

    def _pump(self, one: Subscription) -> None:
        """Feed one slice, then let the loop do something else: nobody waits for a replay."""
        one.pumping = False
        feed = self._feeds.get(one.session)
        if feed is None or one not in feed.subscriptions or one.live or not one.sink.writable:
            return
        try:
            batches = self._slice(feed, one.after)
        except StorageError:  # the disk is ill; the session says so, the client waits
            one.pumping = True
            asyncio.get_running_loop().call_later(RETRY_S, self._pump, one)
            return
        for batch in batches:
            one.sink.batch(batch)
            one.after = batch.last_seq
        if batches and one.after < feed.head:
            self._pump_soon(one)
            return
        self._catch_up(feed, one)

    @staticmethod
    def _catch_up(feed: Feed, one: Subscription) -> None:
        if one.previews:
            for what in feed.source.texts():
                one.sink.shown(what, wire_of(what))
        view = feed.source.view()
        one.sink.view(view, wire_of(view))
        one.live = True

    def _slice(self, feed: Feed, after: int) -> Sequence[Batch]:
        if after >= feed.head:
            return []
        return feed.recent(after) or self._journal.read(feed.session, after, SLICE_BYTES)
