"""How much of everything, and the sessions that every case looks at."""

from __future__ import annotations

import msgspec

from bench.web.gateway import PageGateway

EVENTS = 10_000


class Loads(msgspec.Struct, frozen=True, kw_only=True):
    """``paced`` pieces of text come by the clock, at the end of an answer of ``pieces``."""

    rounds: int = 3
    pieces: int = 20_000
    paced: int = 1_600
    rate: int = 200
    slower: int = 4
    sessions: int = 10
    steps: int = 60
    cuts: int = 20


FULL = Loads(rounds=5, paced=12_000)


class Long(msgspec.Struct, frozen=True):
    """Sessions with a long past."""

    sessions: list[str]


async def long_sessions(gateway: PageGateway, loads: Loads) -> Long:
    """As many as there have to be, with ten thousand events each."""
    sessions = []
    for _ in range(loads.sessions):
        session, _ = await gateway.open()
        while (head := await gateway.last_seq(session)) < EVENTS:
            await gateway.turn(session, f"story {max(1, (EVENTS - head) // PER_ANSWER + 1)}")
        sessions.append(session)
    return Long(sessions)


PER_ANSWER = 6  # events, or less
