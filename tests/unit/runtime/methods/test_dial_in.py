from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.errors import BusyError, NotSupportedError, SessionNotFoundError
from flybridge.model import events as e
from flybridge.model.ids import SessionId
from flybridge.runtime.links.tickets import ticket_of
from flybridge.runtime.methods.dial_in import DialInParams, DialInQuestions
from tests.harness.dial_in_harness import BY_HAND, DialHouse
from tests.harness.runtime_harness import EVERYTHING

pytestmark = pytest.mark.needs("linux")


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[DialHouse]:
    house = DialHouse(short_tmp)
    yield house
    await house.end()


async def ask(house: DialHouse, session: SessionId) -> str:
    answer = DialInQuestions(house.sessions).dial_in
    return (await answer(EVERYTHING, DialInParams(session=session))).url


async def test_the_address_is_the_same_as_long_as_nobody_came(house: DialHouse) -> None:
    live = await house.open(agent="dialler", options=BY_HAND, labels={"companion.slot": "2"})
    url = await ask(house, live.session)
    row = live.memory.incarnation
    assert row is not None
    assert url == f"ws://127.0.0.1:{house.dial_ins.port}/ws/cli/2?ticket={ticket_of(row)}"
    assert await ask(house, live.session) == url


async def test_it_is_told_to_nobody_else_once_one_is_there(house: DialHouse) -> None:
    live, agent = await house.by_hand()
    with pytest.raises(BusyError, match="connected already"):
        await ask(house, live.session)
    agent.kill()
    agent.wait(10)
    await house.saw(e.AgentExited)
    with pytest.raises(BusyError, match="nobody is waited for"):
        await ask(house, live.session)


async def test_what_we_start_ourselves_has_no_address_to_tell(house: DialHouse) -> None:
    live = await house.dial()
    with pytest.raises(NotSupportedError):
        await ask(house, live.session)
    with pytest.raises(SessionNotFoundError):
        await ask(house, SessionId("ses_none"))


async def test_c10_an_address_for_a_slot_in_use_names_the_slot_and_its_session(
    house: DialHouse,
) -> None:
    live = await house.dial(labels={"companion.slot": "2"})
    with pytest.raises(NotSupportedError, match=f"Slot 2 is in use by session {live.session}"):
        await ask(house, live.session)


def test_only_who_may_start_agents_may_ask(house: DialHouse) -> None:
    (question,) = DialInQuestions(house.sessions).table().values()
    assert (question.scope, question.audited) == ("spawn", True)
