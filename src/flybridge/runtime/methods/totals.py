"""What was spent: by day, by agent, by session, read off the turns in the logs.

Each log is read once; afterwards only what has come since. One call reads a bounded amount and
says whether that was all: the next one goes on where it stopped.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Annotated

import msgspec

from flybridge.model import events as e
from flybridge.model.ids import SessionId
from flybridge.runtime.log_scan import Wanted, slices
from flybridge.runtime.methods.sessions import Question
from flybridge.runtime.sessions import Sessions
from flybridge.session.authorisation import Caller, knows
from flybridge.session.ports import Journal, SessionRow

BYTES_PER_CALL = 256 << 20
HOUR_MS = 3_600_000
MAX_DAYS = 366
_WANTED = Wanted(e.TurnEnded, e.History)


class UsageParams(msgspec.Struct, kw_only=True):
    days: Annotated[int, msgspec.Meta(ge=1, le=MAX_DAYS)] = 30
    utc_offset_min: Annotated[int, msgspec.Meta(ge=-1440, le=1440)] = 0  # where days begin


class Spent(msgspec.Struct, kw_only=True):
    cost_usd: float = 0.0
    turns: int = 0

    def add(self, other: Spent) -> None:
        self.cost_usd += other.cost_usd
        self.turns += other.turns


class DaySpent(Spent, kw_only=True):
    day: str


class AgentSpent(Spent, kw_only=True):
    agent: str


class SessionSpent(Spent, kw_only=True):
    session: SessionId
    title: str
    agent: str


class Usage(msgspec.Struct, kw_only=True):
    """Totals of the last days. ``complete``: every log was read to its end."""

    total: Spent
    days: list[DaySpent]
    agents: list[AgentSpent]
    sessions: list[SessionSpent]
    complete: bool


class _Log(msgspec.Struct):
    """What is known of one log."""

    after: int = 0
    past: bool = False  # these turns were had, and paid for, before this session
    hours: dict[int, Spent] = {}

    def take(self, event: e.Event, at_ms: int) -> None:
        if isinstance(event, e.History):
            self.past = event.phase == "started"
        elif isinstance(event, e.TurnEnded) and not self.past:
            hour = self.hours.setdefault(at_ms // HOUR_MS, Spent())
            hour.add(Spent(cost_usd=event.cost_usd, turns=1))


class Totals:
    """Adds up what all sessions cost."""

    def __init__(
        self,
        sessions: Sessions,
        journal: Journal,
        now_ms: Callable[[], int],
        *,
        max_bytes: int = BYTES_PER_CALL,
    ) -> None:
        self._sessions = sessions
        self._journal = journal
        self._now_ms = now_ms
        self._max_bytes = max_bytes
        self._logs: dict[SessionId, _Log] = {}

    def table(self) -> dict[str, Question]:
        return {"usage": Question("view", UsageParams, self.usage)}

    async def usage(self, caller: Caller, params: UsageParams) -> Usage:
        rows = self._sessions.rows()
        gone = self._logs.keys() - {row.session for row in rows}
        for session in gone:
            del self._logs[session]
        complete = await self._read_on(rows)
        known = [row for row in rows if knows(caller, row.session)]
        return self._add_up(known, params, complete=complete)

    async def _read_on(self, rows: list[SessionRow]) -> bool:
        left = self._max_bytes
        for row in rows:
            log = self._logs.setdefault(row.session, _Log())
            if log.after >= row.last_seq:
                continue
            async for one in slices(self._journal, row.session, log.after, _WANTED):
                if one.last_seq <= log.after:  # somebody else asks, too, and was here first
                    break
                for entry in one.entries:
                    if entry.seq > log.after:
                        log.take(entry.event, entry.at_ms)
                log.after = one.last_seq
                left -= one.size
                if left <= 0:
                    return False
        return True

    def _add_up(self, rows: list[SessionRow], params: UsageParams, *, complete: bool) -> Usage:
        shift_ms = params.utc_offset_min * 60_000
        today = (self._now_ms() + shift_ms) // (24 * HOUR_MS)
        days: dict[int, Spent] = {}
        agents: dict[str, Spent] = {}
        sessions: list[SessionSpent] = []
        total = Spent()
        for row in rows:
            one = SessionSpent(session=row.session, title=row.title, agent=row.agent)
            for hour, spent in self._logs.get(row.session, _Log()).hours.items():
                day = (hour * HOUR_MS + shift_ms) // (24 * HOUR_MS)
                if day > today - params.days:
                    days.setdefault(day, Spent()).add(spent)
                    one.add(spent)
            if one.turns:
                sessions.append(one)
                agents.setdefault(row.agent, Spent()).add(one)
                total.add(one)
        sessions.sort(key=lambda one: (-one.cost_usd, -one.turns))
        return Usage(
            total=total,
            days=[_of_day(day, spent) for day, spent in sorted(days.items())],
            agents=[
                AgentSpent(agent=agent, cost_usd=spent.cost_usd, turns=spent.turns)
                for agent, spent in sorted(agents.items())
            ],
            sessions=sessions,
            complete=complete,
        )


def _of_day(day: int, spent: Spent) -> DaySpent:
    name = (datetime.date(1970, 1, 1) + datetime.timedelta(days=day)).isoformat()
    return DaySpent(day=name, cost_usd=spent.cost_usd, turns=spent.turns)
