from __future__ import annotations

from pathlib import Path
from typing import Any

from flybridge.model.ids import SessionId
from flybridge.runtime.lifecycle.conversation_ids import ConversationIds
from flybridge.session.ports import SessionRow, Write
from flybridge.store.memory import MemoryJournal
from tests.harness.agent_programs import steps
from tests.harness.forged_lines import introduced
from tests.harness.runtime_harness import House
from tests.harness.waiting import until

ONE, TWO = SessionId("ses_1"), SessionId("ses_2")


def row(session: SessionId, *names: str) -> SessionRow:
    *before, now = names
    return SessionRow(
        session=session, agent="a", cwd="/", conversation=now, conversations=tuple(before)
    )


def test_an_id_belongs_to_every_session_that_has_or_had_it() -> None:
    journal = MemoryJournal()
    journal.commit(Write(session=ONE, row=row(ONE, "old", "new")))
    ids = ConversationIds(journal)
    for name in ("old", "new"):
        assert ids.is_taken(name, TWO)
        assert not ids.is_taken(name, ONE)
    assert not ids.is_taken("other", TWO)
    ids.note(row(TWO, "other"))
    assert ids.is_taken("other", ONE)
    ids.forget(TWO)
    assert not ids.is_taken("other", ONE)


def test_a_session_without_a_conversation_takes_nothing() -> None:
    journal = MemoryJournal()
    journal.commit(Write(session=ONE, row=row(ONE, "")))
    assert not ConversationIds(journal).is_taken("", TWO)


async def talked(house: House, request: str, *said: dict[str, Any]) -> Any:
    live = await house.open(request=request)
    await house.say(live, steps(*said) if said else "hello", f"{request}-1")
    await until(lambda: live.memory.state.agent_session and not live.memory.state.turn)
    return live


async def test_a09_an_agent_that_claims_another_conversation_stays_who_it_is(house: House) -> None:
    victim = await talked(house, "victim")
    name = victim.memory.state.agent_session
    thief = await talked(house, "thief", introduced(name))
    state = thief.memory.state
    assert state.agent_session not in ("", name)
    assert state.alarm is not None
    assert state.alarm.code == "conversation_id_taken"
    rows = {row.session: row for row in house.sessions.rows()}
    assert rows[thief.session].conversation == state.agent_session
    assert house.sessions.holder_of(name) == victim.session
    await house.sessions.stop_agent(victim.session)
    assert house.sessions.holder_of(name) is None  # so it can be resumed, by whoever may
    again = await house.ask(
        "open", agent="recorder", cwd=str(house.folder), request="again", resume=name
    )
    assert again.error == ""


async def test_a09_an_id_that_a_session_had_stays_its_own_also_for_the_next_gateway(
    short_tmp: Path,
) -> None:
    journal = MemoryJournal()
    first = House(short_tmp, journal)
    victim = await talked(first, "victim")
    old = victim.memory.state.agent_session
    await first.say(victim, steps(introduced("con-new")), "clear")
    await until(lambda: victim.memory.state.agent_session == "con-new")
    await first.die()
    second = first.next(journal)
    try:
        await second.sessions.recover()
        for number, name in enumerate((old, "con-new")):
            thief = await talked(second, f"thief{number}", introduced(name))
            assert thief.memory.state.agent_session not in ("", name)
            assert thief.memory.state.alarm is not None
        fresh = await talked(second, "fresh", introduced("con-fresh"))
        assert fresh.memory.state.agent_session == "con-fresh"
        assert fresh.memory.state.alarm is None
    finally:
        await second.end()
