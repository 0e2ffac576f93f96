"""Idle agents make room: for new ones when there are too many, and for everybody after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from flybridge.errors import FlybridgeError
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.services import Services
from flybridge.session.idling import may_go, put_away

ROOM_S = 15.0


class Eviction:
    """Puts away the agents that have been idle the longest. None that works, none that waits
    for a person, and none whose version could not be resumed."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def make_room(self, sessions: Iterable[LiveSession]) -> bool:
        """See that one more agent may start; False where all of them are busy."""
        limits = self._services.limits
        if self._services.agents < limits.agents:
            return True
        idle = sorted(filter(_may_go, sessions), key=lambda live: live.memory.state.at_ms)
        for live in idle:
            if self._put_away(live, "room was needed for another one"):
                try:
                    await asyncio.wait_for(live.gone.wait(), ROOM_S)
                except TimeoutError:
                    continue
                return self._services.agents < limits.agents
        return False

    def sweep(self, sessions: Iterable[LiveSession]) -> int:
        """Put away what has been idle for too long; returns how many that were."""
        idle_s = self._services.timing.idle_s
        if not idle_s:
            return 0
        before_ms = self._services.now_ms() - int(idle_s * 1000)
        old = [live for live in sessions if live.memory.state.at_ms < before_ms and _may_go(live)]
        why = f"idle for {round(idle_s / 60)} minutes"
        return sum(self._put_away(live, why) for live in old)

    def _put_away(self, live: LiveSession, why: str) -> bool:
        step = live.step()
        step.decided(put_away(live.memory.state, why))
        try:
            live.commit(step)
        except FlybridgeError:
            return False  # the session is down; it has other worries
        return True


def _may_go(live: LiveSession) -> bool:
    resumes = live.installed is not None and live.installed.capabilities.resumes
    row = live.memory.incarnation
    ending = row is not None and row.asked_to_end
    return resumes and live.down is None and not ending and may_go(live.memory.state)
