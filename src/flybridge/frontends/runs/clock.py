"""The time a run has, kept by the gateway: it holds when no script is there to keep it.

A script that drives a run keeps its times itself. One that left, or died, cannot. So the gateway
folds the log of every run, too, with the same adapter, and does what that says when a time is up:
the same command, under the same request id, in the name of who began the run. Whoever comes
second gets the recorded outcome. Nothing that is decided here grants an agent anything.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine

from flybridge.errors import FlybridgeError, SessionClosedError, SessionNotFoundError
from flybridge.frontends.runs.adapter import RunAdapter, Tell
from flybridge.frontends.runs.bodies import blob_of, whole
from flybridge.frontends.runs.ids import Place
from flybridge.frontends.runs.translate import RUN
from flybridge.model.deliveries import Batch, Shown, Stage, View
from flybridge.model.events import Event
from flybridge.model.ids import SessionId
from flybridge.model.requests import Submit
from flybridge.runtime.broadcaster import Hub, Subscription
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.unit_of_work import entries_of
from flybridge.session.authorisation import Caller, Scope
from flybridge.session.ports import Blobs

GRACE_MS = 500  # a script that is there comes first
AGAIN_MS = 5000
TRIES = 1000  # of one command, while the disk refuses
MAX_WHOLE_BYTES = 8 << 20
NEVER = Place(1 << 62, 0)  # frames are for scripts: none is made here
SCOPES: frozenset[Scope] = frozenset({"view", "input", "spawn"})
_log = logging.getLogger(__name__)


class RunClock:
    """Follows the runs of one gateway. ``begin`` is told of every session that comes to life."""

    def __init__(self, desk: Desk, hub: Hub, blobs: Blobs, now_ms: Callable[[], int]) -> None:
        self.desk = desk
        self.hub = hub
        self.blobs = blobs
        self.now_ms = now_ms
        self._runs: dict[SessionId, FollowedRun] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, live: LiveSession) -> None:
        """Follow a session that is a run, from its beginning to its end."""
        state = live.memory.state
        run = state.labels.get(RUN, "")
        if run and not state.closed and live.session not in self._runs:
            self._runs[live.session] = FollowedRun(self, live.session, run, state.opener)

    def forget(self, session: SessionId) -> None:
        self._runs.pop(session, None)

    @property
    def followed(self) -> int:
        """How many runs have not ended yet."""
        return len(self._runs)

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """The gateway ends; the next one goes on."""
        for one in list(self._runs.values()):
            one.leave()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class FollowedRun:
    """One run, as a client of the hub that nobody sees."""

    writable = True  # it takes in everything at once

    def __init__(self, clock: RunClock, session: SessionId, run: str, opener: str) -> None:
        self._clock = clock
        self._session = session
        self._adapter = RunAdapter(run, telling="0" * 8, after=NEVER)
        self._caller = Caller(principal=opener, scopes=SCOPES, door="gateway")
        self._timer: asyncio.TimerHandle | None = None
        self._not_before_ms = 0
        self._subscription: Subscription = clock.hub.attach(
            self, session, after=0, previews=False, counts=False
        )

    def batch(self, batch: Batch) -> None:
        try:
            for entry in entries_of(batch):
                self._adapter.event(entry.seq, entry.at_ms, self._whole(entry.event))
        except Exception:  # whoever drives the run goes on, and so does its session
            _log.exception("the run %s cannot be followed", self._adapter.run)
            self.leave()

    def shown(self, shown: Shown, wire: bytes) -> None:
        pass

    def view(self, view: View, wire: bytes) -> None:
        """Everything up to here was told."""
        self._adapter.caught_up = True
        if self._adapter.terminal is not None:
            self.leave()
        else:
            self._watch()

    def detached(self, session: SessionId, code: str) -> None:
        self.leave()

    def leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._clock.hub.detach(self._subscription)
        self._clock.forget(self._session)

    def _whole(self, event: Event) -> Event:
        digest = blob_of(event)
        size = self._clock.blobs.size(digest) if digest else None
        if size is None or size > MAX_WHOLE_BYTES:
            return event
        return whole(event, self._clock.blobs.get(digest))

    def _watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self._adapter.deadline_ms
        if due is not None:
            wait_ms = max(due + GRACE_MS, self._not_before_ms) - self._clock.now_ms()
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(max(wait_ms, 0) / 1000, self._due)

    def _due(self) -> None:
        self._timer = None
        self._adapter.expire(self._clock.now_ms())
        for want in self._adapter.wants():
            if isinstance(want, Tell):
                self._clock.spawn(self._carry_out(want))
        self._watch()

    async def _carry_out(self, want: Tell) -> None:
        """In the name of who began the run: as if their script had been there."""
        request = Submit(
            ref="",
            session=self._session,
            command=want.command,
            request=want.request,
            until=Stage.ACCEPTED,
        )
        for _ in range(TRIES):
            try:
                await self._clock.desk.submit(self._caller, request)
                return
            except (SessionClosedError, SessionNotFoundError):
                return
            except FlybridgeError as error:
                _log.warning("run %s: out of time, but: %s", self._adapter.run, error)
                if want.group:  # the question waits again, and is out of time again
                    self._not_before_ms = self._clock.now_ms() + AGAIN_MS
                    self._adapter.refused(want, "")
                    self._adapter.warnings.clear()
                    self._watch()
                    return
                await asyncio.sleep(AGAIN_MS / 1000)
