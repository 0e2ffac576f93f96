from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from flybridge.errors import SessionNotFoundError, StorageError
from flybridge.model.capabilities import OpenSpec
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId
from flybridge.runtime.sessions import session_id
from flybridge.session.views import WEDGED_MS
from flybridge.store.memory import MemoryJournal
from flybridge.testing.faulty import Fault, FaultyJournal
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


def test_a_request_names_the_session_it_opens() -> None:
    assert session_id("me", "r") == session_id("me", "r")
    assert session_id("me", "r") != session_id("you", "r")


async def test_a_session_nobody_opened_is_not_found(short_tmp: Path) -> None:
    house = House(short_tmp)
    with pytest.raises(SessionNotFoundError):
        house.sessions.get(SessionId("ses_no"))
    assert house.sessions.loaded(SessionId("ses_no")) is None


async def test_a_session_that_could_not_be_stored_was_never_opened(short_tmp: Path) -> None:
    journal = FaultyJournal(MemoryJournal(), commit=Fault(first=1, last=1))
    house = House(short_tmp, journal)
    spec = OpenSpec(agent="recorder", cwd=str(short_tmp))
    with pytest.raises(StorageError):
        await house.sessions.open(spec, principal="me", request="r")
    assert house.sessions.agents() == 0
    with pytest.raises(SessionNotFoundError):
        house.sessions.get(session_id("me", "r"))
    await house.end()


async def test_every_living_agent_is_counted_and_its_keeper_known(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await until(lambda: live.link)
    assert house.sessions.agents() == 1
    assert len(house.sessions.keepers()) == 1
    await house.sessions.stop_agent(live.session)
    assert house.sessions.agents() == 0
    assert house.sessions.keepers() == []
    await house.end()


async def test_a_session_is_loaded_when_it_is_asked_for(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open(title="old")
    await house.say(live, "hi", "r1")
    await house.sessions.stop_agent(live.session)
    await house.die()
    assert isinstance(house.journal, MemoryJournal)
    new = house.next(house.journal.reopen())
    assert await new.sessions.recover() == 0
    assert new.sessions.loaded(live.session) is None
    assert new.sessions.get(live.session).memory.state.title == "old"
    await new.end()


async def test_a_disk_that_works_again_takes_the_next_session(short_tmp: Path) -> None:
    """Nobody else lives who could see to the journal."""
    journal = FaultyJournal(
        MemoryJournal(), commit=Fault(first=1, last=1), recover=Fault(first=1, last=1)
    )
    house = House(short_tmp, journal)
    asked = {"agent": "recorder", "cwd": str(short_tmp)}
    errors = [(await house.ask("open", request=str(n), **asked)).error for n in range(3)]
    assert errors == ["storage_failed", "storage_failed", ""]
    await house.end()


async def test_an_agent_that_falls_silent_is_shown_to_be_wedged_by_the_clock_alone(
    short_tmp: Path,
) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, steps({"stall": 60}), "r1", Stage.OBSERVED)
    house.sessions.sweep()
    views, now_ms = len(house.client.views), house.services.now_ms
    house.services.now_ms = lambda: now_ms() + WEDGED_MS + 1000
    house.sessions.sweep()
    house.sessions.sweep()
    (shown,) = house.client.views[views:]
    assert msgspec.json.decode(shown.state)["why"] == "wedged"
    await house.end()
