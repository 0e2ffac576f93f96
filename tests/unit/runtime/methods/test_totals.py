from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from flybridge.model import events as e
from flybridge.model.deliveries import Batch
from flybridge.model.ids import SessionId, TurnId
from flybridge.runtime import log_scan
from flybridge.runtime.methods.totals import HOUR_MS, Totals, Usage, UsageParams
from flybridge.session.ports import SessionRow, Write
from flybridge.wire.native.messages import EventLine, encode
from tests.harness.runtime_harness import EVERYTHING, House

DAY_MS = 24 * HOUR_MS
NOW_MS = 20_000 * DAY_MS + 5 * HOUR_MS  # 2024-10-04, five o'clock


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, grace_s=0.5)
    yield house
    await house.end()


def write(house: House, session: str, *events: tuple[int, e.Event], agent: str = "a") -> None:
    name = SessionId(session)
    lines = [
        encode(
            EventLine(
                session=name,
                epoch=1,
                seq=seq,
                at_ms=at_ms,
                event=msgspec.Raw(msgspec.json.encode(one)),
            )
        )
        for seq, (at_ms, one) in enumerate(events, 1)
    ]
    batch = Batch(session=name, epoch=1, first_seq=1, count=len(lines), wire=b"\n".join(lines))
    row = SessionRow(session=name, agent=agent, cwd="/", title=session, last_seq=len(lines))
    house.journal.commit(Write(session=name, batches=[batch], row=row))


def turn(cost: float) -> e.TurnEnded:
    return e.TurnEnded(turn=TurnId("trn_1"), cost_usd=cost)


async def usage(totals: Totals, **params: int) -> Usage:
    return await totals.usage(EVERYTHING, UsageParams(**params))


async def test_costs_are_added_up_by_day_agent_and_session(house: House) -> None:
    write(house, "ses_1", (NOW_MS, turn(0.5)), (NOW_MS - DAY_MS, turn(0.25)))
    write(house, "ses_2", (NOW_MS, turn(1.0)), agent="b")
    write(house, "ses_3", (NOW_MS, e.Notice(text="nothing was spent")))
    found = await usage(Totals(house.sessions, house.journal, lambda: NOW_MS))
    assert (found.total.cost_usd, found.total.turns, found.complete) == (1.75, 3, True)
    assert [(one.day, one.cost_usd) for one in found.days] == [
        ("2024-10-03", 0.25),
        ("2024-10-04", 1.5),
    ]
    assert [(one.agent, one.cost_usd) for one in found.agents] == [("a", 0.75), ("b", 1.0)]
    assert [(one.session, one.cost_usd) for one in found.sessions] == [
        ("ses_2", 1.0),
        ("ses_1", 0.75),
    ]


async def test_only_the_last_days_count_and_a_day_begins_where_people_are(house: House) -> None:
    write(house, "ses_1", (NOW_MS, turn(0.5)), (NOW_MS - DAY_MS, turn(0.25)))
    totals = Totals(house.sessions, house.journal, lambda: NOW_MS)
    assert (await usage(totals, days=1)).total.cost_usd == 0.5
    west = await usage(totals, days=1, utc_offset_min=-6 * 60)  # still the day before
    assert [one.day for one in west.days] == ["2024-10-03"]


async def test_what_was_paid_before_this_session_is_not_counted(house: House) -> None:
    write(
        house,
        "ses_1",
        (NOW_MS, e.History(phase="started")),
        (NOW_MS, turn(9.0)),
        (NOW_MS, e.History(phase="done")),
        (NOW_MS, turn(0.5)),
    )
    found = await usage(Totals(house.sessions, house.journal, lambda: NOW_MS))
    assert found.total.cost_usd == 0.5


async def test_what_was_not_read_this_time_is_read_the_next(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_scan, "SLICE_BYTES", 1)
    for n in range(4):
        write(house, f"ses_{n}", (NOW_MS, turn(1.0)))
    totals = Totals(house.sessions, house.journal, lambda: NOW_MS, max_bytes=200)
    seen = []
    for _ in range(6):
        found = await usage(totals)
        seen.append((found.total.turns, found.complete))
    assert seen[0][1] is False
    assert seen[-1] == (4, True)
    assert [turns for turns, _ in seen] == sorted(turns for turns, _ in seen)


async def test_a_live_session_is_read_on_and_a_deleted_one_forgotten(house: House) -> None:
    live = await house.open()
    totals = Totals(house.sessions, house.journal, house.services.now_ms)
    await house.say(live, "one", "r1")
    assert (await usage(totals)).total.turns == 1
    await house.say(live, "two", "r2")
    assert (await usage(totals)).total.turns == 2
    caller = msgspec.structs.replace(EVERYTHING, sessions=frozenset({"ses_other"}))
    assert (await totals.usage(caller, UsageParams())).total.turns == 0
    write(house, "ses_gone", (NOW_MS, turn(1.0)))
    await usage(totals)
    house.journal.delete(SessionId("ses_gone"))
    await usage(totals)
    assert list(totals._logs) == [live.session]
