"""How far a long control message is, for a sender that asked: told before the acknowledgement.

Only where several messages can belong to one request: at a socket. Whoever carries out a request
there finds in its context whom to tell; by HTTP there is nobody. What a sender does not take is
dropped, so nothing here ever waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TypeAlias

from flybridge.frontends.control.adapter import ControlAdapter
from flybridge.listeners.connection import NativeClient
from flybridge.model.deliveries import Reply, Stage
from flybridge.model.requests import Ask, Request
from flybridge.wire.control import messages as wire
from flybridge.wire.control.times import format_time

EVERY_S = 0.25  # and not more often within a stage
EVERY_BYTES = 1 << 20
Tell: TypeAlias = Callable[[wire.StdinProgress], None]
_listener: ContextVar[Tell | None] = ContextVar("_listener", default=None)


class ReportingClient(NativeClient):
    """A sender at a socket, who can be told on the way."""

    def _start(self, request: Request) -> None:
        ref = request.ref if isinstance(request, Ask) else ""
        token = _listener.set(lambda progress: self._report(ref, progress))
        try:
            super()._start(request)  # the task takes the context along
        finally:
            _listener.reset(token)

    def _report(self, ref: str, progress: wire.StdinProgress) -> None:
        adapter = self._adapter
        if isinstance(adapter, ControlAdapter) and self.writable:
            adapter.report(ref, progress)
            for message in adapter.take():
                self._write(message)


class Reporter:
    """Tells of one request: each stage once, and within one not often."""

    def __init__(
        self,
        request: wire.StdinRequest,
        total: int,
        tell: Tell,
        now_ms: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._request = request
        self._total = total
        self._tell = tell
        self._now_ms = now_ms
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._stage = ""
        self._done = 0
        self._at = 0.0

    def read(self, done: int) -> None:
        """So much of the file was read. Called in another thread."""
        self._loop.call_soon_threadsafe(self.reached, "reading", done)

    def reached(self, stage: wire.ProgressStage, done: int | None = None) -> None:
        """It is there, with so many bytes; nothing said: with all of them."""
        done = self._total if done is None else min(done, self._total)
        now = self._clock()
        soon = now - self._at < EVERY_S or done - self._done < EVERY_BYTES
        if stage == self._stage and soon:
            return
        self._stage, self._done, self._at = stage, done, now
        request = self._request
        self._tell(
            wire.StdinProgress(
                v=wire.VERSION,
                request_id=request.request_id,
                team=request.team,
                session_id=request.session_id,
                agent_id=request.agent_id,
                at=format_time(self._now_ms()),
                stage=stage,
                bytes=done,
                total=self._total,
            )
        )


def reporter_of(
    request: wire.Request, threshold: int, now_ms: Callable[[], int]
) -> Reporter | None:
    """Who tells of a request; None: nobody asked, nobody can hear it, or it is short."""
    tell = _listener.get()
    if tell is None or not isinstance(request, wire.StdinRequest) or request.progress is not True:
        return None
    if isinstance(request.content_ref, wire.ContentRef):
        total = request.content_ref.size_bytes
    else:
        total = len(wire.given(request.content, "").encode())
    return Reporter(request, total, tell, now_ms) if total > threshold else None


async def follow(
    report: Reporter, wait: Callable[[Stage], Awaitable[Reply]], until: Stage
) -> Reply:
    """Claim a request, wait for one stage after the other and tell of each; return the reply to
    the claim. ``wait`` hands the same request over again, and that begins nothing twice."""
    first = await wait(Stage.ACCEPTED)
    if first.duplicate or first.stage is None:  # another one's, who hears of it; or refused
        await wait(until)
        return first
    report.reached("accepted")
    for stage in (Stage.WRITTEN, Stage.OBSERVED):
        reply = await wait(stage) if stage <= until else None
        if reply is None or reply.stage is None or reply.stage < stage:
            break
        report.reached("written")
    return first
