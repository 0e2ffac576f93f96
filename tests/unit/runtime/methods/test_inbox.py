from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from flybridge.model.deliveries import Stage
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods import inbox as module
from flybridge.runtime.methods.inbox import Inbox
from flybridge.runtime.methods.panels import Panels
from flybridge.runtime.methods.sessions import NoParams
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import EVERYTHING, House
from tests.harness.waiting import until


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, grace_s=0.5)
    yield house
    await house.end()


async def asking(house: House, request: str) -> LiveSession:
    live = await house.open(request=request, title=request)
    text = steps({"tool": "Bash", "input": {"command": request}, "ask": True})
    await house.say(live, text, f"say-{request}", stage=Stage.WRITTEN)
    await until(lambda: live.memory.state.prompts)
    return live


async def test_every_prompt_of_every_session_is_there_the_oldest_first(house: House) -> None:
    first = await asking(house, "one")
    await house.open(request="quiet")
    second = await asking(house, "two")
    inbox = Inbox(house.sessions, Panels(house.sessions, house.journal))
    found = await inbox.prompts(EVERYTHING, NoParams())
    assert [(one.session, one.title) for one in found.prompts] == [
        (first.session, "one"),
        (second.session, "two"),
    ]
    assert found.count == 2


async def test_who_may_not_know_of_a_session_does_not_see_its_prompts(house: House) -> None:
    await asking(house, "one")
    mine = await asking(house, "two")
    inbox = Inbox(house.sessions, Panels(house.sessions, house.journal))
    caller = msgspec.structs.replace(EVERYTHING, sessions=frozenset({mine.session}))
    found = await inbox.prompts(caller, NoParams())
    assert [one.session for one in found.prompts] == [mine.session]
    assert found.count == 1


async def test_more_than_can_be_shown_are_counted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SHOWN", 1)
    await asking(house, "one")
    await asking(house, "two")
    inbox = Inbox(house.sessions, Panels(house.sessions, house.journal))
    found = await inbox.prompts(EVERYTHING, NoParams())
    assert (len(found.prompts), found.count) == (1, 2)
