from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.errors import AgentUnavailableError, InvalidRequestError
from flybridge.model import commands as c
from flybridge.model.deliveries import Stage
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.lifecycle.branches import Branches, BranchParams
from flybridge.runtime.methods.sessions import OpenParams
from flybridge.session.authorisation import Caller
from tests.harness.runtime_harness import EVERYTHING, House
from tests.harness.waiting import until


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, grace_s=0.5)
    yield house
    await house.end()


class Opening:
    """Notes what is to be opened."""

    def __init__(self, house: House) -> None:
        self.wanted: list[OpenParams] = []
        self.branches = Branches(house.sessions, self)

    async def __call__(self, _: Caller, params: OpenParams) -> object:
        self.wanted.append(params)
        return {"session": "ses_new"}


async def test_a_fork_is_like_its_mother_and_goes_on_in_a_copy(house: House) -> None:
    live = await house.open(title="mother", options={"max_turns": 7})
    await house.say(live, "hello", "r1")
    opening = Opening(house)
    params = BranchParams(session=live.session, request="f", labels={"a": "b"})
    assert await opening.branches.fork(EVERYTHING, params) == {"session": "ses_new"}
    wanted = opening.wanted[0]
    assert (wanted.resume, wanted.fork) == (live.memory.state.agent_session, True)
    assert (wanted.agent, wanted.cwd, wanted.title) == ("recorder", str(house.folder), "mother")
    assert (wanted.agent_options["max_turns"], wanted.labels) == (7, {"a": "b"})


@pytest.mark.parametrize(
    ("agent", "mode", "passed_on"),
    [
        ("recorder", "default", ""),
        ("recorder", "plan", "plan"),
        ("recorder", "manual", "manual"),
        ("courier", "ask", ""),
        ("courier", "free", "free"),
    ],
)
async def test_a_fork_gets_every_mode_of_its_mother_but_the_default_of_its_agent(
    house: House, agent: str, mode: str, passed_on: str
) -> None:
    live = await house.open(agent, mode=mode)
    await house.say(live, "hello", "r1")
    live.memory.state.mode = mode  # whatever it reports
    opening = Opening(house)
    await opening.branches.fork(EVERYTHING, BranchParams(session=live.session, request="f"))
    assert opening.wanted[0].mode == passed_on


async def test_what_nobody_spoke_in_cannot_be_forked(house: House) -> None:
    live = await house.open()
    with pytest.raises(InvalidRequestError, match="nothing was said"):
        await Opening(house).branches.fork(
            EVERYTHING, BranchParams(session=live.session, request="f")
        )


async def test_a_session_goes_on_by_itself_unless_it_is_closed(house: House) -> None:
    live = await house.open()
    await house.say(live, "hello", "r1")
    opening = Opening(house)
    params = BranchParams(session=live.session, request="f")
    assert await opening.branches.resume(EVERYTHING, params) == {"session": live.session}
    await house.submit(live.session, c.Close(), "c", Stage.ACCEPTED)
    await until(lambda: live.memory.state.closed)
    assert await opening.branches.resume(EVERYTHING, params) == {"session": "ses_new"}
    assert (opening.wanted[0].resume, opening.wanted[0].fork) == (
        live.memory.state.agent_session,
        False,
    )


async def test_to_continue_is_to_go_on_with_the_latest_in_the_directory(house: House) -> None:
    live = await house.open()
    opening = Opening(house)
    await opening.branches.continue_(EVERYTHING, BranchParams(session=live.session, request="f"))
    assert opening.wanted[0].continue_latest
    assert opening.wanted[0].resume == ""


@pytest.mark.parametrize("how", ["fork", "continue_", "resume"])
async def test_an_agent_of_another_kind_does_not_go_on(house: House, how: str) -> None:
    live = await house.open("courier")
    await house.say(live, "hello", "r1")
    await house.submit(live.session, c.Close(), "c", Stage.ACCEPTED)
    await until(lambda: live.memory.state.closed)
    rename_recorder_to_courier(house)
    opening = Opening(house)
    params = BranchParams(session=live.session, request="f")
    with pytest.raises(AgentUnavailableError, match="was of the kind 'courier' and is now"):
        await getattr(opening.branches, how)(EVERYTHING, params)
    assert not opening.wanted


async def test_a_conversation_of_another_kind_is_not_resumed_by_its_id(house: House) -> None:
    live = await house.open("courier")
    await house.say(live, "hello", "r1")
    await house.sessions.stop_agent(live.session)
    await until(live.gone.is_set)
    wanted = {"cwd": str(house.folder), "resume": live.memory.state.agent_session}
    again = await house.ask("open", agent="courier", request="o2", fork=True, **wanted)
    assert not again.error
    rename_recorder_to_courier(house)
    refused = await house.ask("open", agent="courier", request="o3", fork=True, **wanted)
    assert refused.error == "agent_unavailable"
    assert "was of the kind 'courier' and is now of the kind 'claude'" in refused.message
    assert not house.record.exists()


def rename_recorder_to_courier(house: House) -> None:
    """Change the configuration: the name ``courier`` is now that of an agent of Claude's kind."""
    shelf = house.services.shelf
    assert isinstance(shelf, AgentShelf)
    courier, _ = shelf._agents["courier"]
    agents = {**shelf._agents, "courier": shelf._agents["recorder"]}
    house.services.shelf = AgentShelf(agents, make=lambda name, kind: courier)


def test_each_of_them_needs_the_right_to_open(house: House) -> None:
    table = Opening(house).branches.table()
    assert {name: (one.scope, one.audited) for name, one in table.items()} == {
        "resume": ("spawn", True),
        "continue": ("spawn", True),
        "fork": ("spawn", True),
    }
