"""Alarms about keepers: somebody killed one, or the process that starts them."""

from __future__ import annotations

import logging
from collections.abc import Callable

from flybridge.errors import KeeperError
from flybridge.model.audit import Record
from flybridge.runtime.keeper.starter import StarterAlarm
from flybridge.runtime.services import Services
from flybridge.runtime.sessions import Sessions

EVENT = "alarm"
_log = logging.getLogger(__name__)


class KeeperAlarms:
    """Writes alarms to the log and the audit log."""

    def __init__(
        self, services: Services, sessions: Sessions, audit: Callable[[Record], None]
    ) -> None:
        self._starter = services.starter
        self._sessions = sessions
        self._audit = audit

    @classmethod
    async def open(
        cls, services: Services, sessions: Sessions, audit: Callable[[Record], None]
    ) -> KeeperAlarms:
        """Listen, and connect to the keeper starter that an earlier gateway left."""
        made = cls(services, sessions, audit)
        if services.starter is not None:
            services.starter.observers.append(made.alarm)
            try:
                await services.starter.find()
            except KeeperError as error:  # agents that live go on; starting one says it again
                _log.warning("%s", error)
        return made

    async def close(self) -> None:
        """Let go of the starter, which ends when it has no keepers."""
        if self._starter is not None:
            self._starter.observers.remove(self.alarm)
            await self._starter.close()

    def alarm(self, alarm: StarterAlarm) -> None:
        session = self._sessions.kept_by(alarm.pid, alarm.start) or ""
        how = f"signal {alarm.signal}" if alarm.signal else "unknown signal"
        _log.warning("alarm %s: process %d, %s %s", alarm.code, alarm.pid, how, session)
        self._audit(
            Record(
                event=EVENT,
                outcome="detected",
                code=alarm.code,
                session=session,
                target=f"process {alarm.pid}",
                detail=how,
            )
        )
