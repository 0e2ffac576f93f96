"""Options of an agent that is not Claude: published, checked, granted, and kept for later lives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.errors import NotAllowedError
from flybridge.model.ids import SessionId
from flybridge.runtime.lifecycle.branches import Branches, BranchParams
from flybridge.runtime.methods.sessions import SessionQuestions
from flybridge.session.authorisation import Caller
from tests.harness.http_harness import Web
from tests.harness.runtime_harness import EVERYTHING, House, ListClient

VISITOR = Caller(principal="you", scopes=frozenset({"view", "spawn"}), process="2:2:b")


def opening(web: Web, **more: Any) -> dict[str, Any]:
    return {"agent": "courier", "cwd": str(web.house.folder), "request": "r1", **more}


def arguments(house: House, session: str) -> list[str]:
    """Return what the running agent was started with."""
    row = next(row for row in house.journal.live() if row.session == session)
    return Path(f"/proc/{row.agent_pid}/cmdline").read_bytes().decode().split("\0")


async def test_the_schema_is_published_for_every_agent(web: Web) -> None:
    got = await web.call("GET", "/agents")
    agents = {agent["name"]: agent for agent in got.json["agents"]}
    vehicle, parcels, _ = agents["courier"]["options"]
    assert (vehicle["type"], vehicle["choices"]) == ("choice", ["bicycle", "van"])
    assert (vehicle["grants"], parcels["grants"]) == (False, True)
    assert agents["courier"]["common"] == []
    assert agents["recorder"]["common"] == ["budget_usd", "effort"]
    assert "max_turns" in [option["name"] for option in agents["missing"]["options"]]


async def test_options_given_over_http_reach_the_agent_in_every_life(web: Web) -> None:
    options = {"vehicle": "van", "open_parcels": True}
    got = await web.call("POST", "/sessions", opening(web, agent_options=options))
    assert got.status == 201, got.body
    house, session = web.house, got.json["session"]
    live = house.sessions.get(SessionId(session))
    await house.say(live, "hi", "r2")
    assert {"--vehicle=van", "--open-parcels"} <= set(arguments(house, session))
    assert (await web.call("POST", f"/sessions/{session}/stop")).status == 200
    await house.say(live, "again", "r3")
    assert {"--vehicle=van", "--open-parcels"} <= set(arguments(house, session))
    view = (await web.call("GET", f"/sessions/{session}")).json
    assert (view["agent_options"], view["options"]) == (options, {})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"agent_options": {"vehicel": "van"}}, "did you mean 'vehicle'?"),
        ({"agent_options": {"vehicle": "boat"}}, "'boat' is not one of bicycle, van"),
        ({"options": {"max_turns": 3}}, "this agent has no option 'max_turns'"),
        ({"effort": "high"}, "this agent has no option 'effort'"),
        ({"budget_usd": 1}, "this agent has no option 'budget_usd'"),
    ],
)
async def test_an_option_that_the_agent_does_not_have_is_refused(
    web: Web, more: dict[str, Any], words: str
) -> None:
    got = await web.call("POST", "/sessions", opening(web, **more))
    assert (got.status, got.code) == (400, "invalid_option")
    assert words in got.body.decode()
    assert web.house.sessions.rows() == []


async def test_an_option_that_grants_needs_an_administrator(web: Web) -> None:
    house, visitor = web.house, ListClient(VISITOR)
    asked = opening(web, agent_options={"open_parcels": True})
    reply = await house.ask("open", visitor, **asked)
    assert (reply.error, "open_parcels" in reply.message) == ("not_allowed", True)
    harmless = opening(web, agent_options={"open_parcels": False, "vehicle": "van"})
    assert (await house.ask("open", visitor, **harmless)).error == ""
    reply = await house.ask("open", ListClient(EVERYTHING), **{**asked, "request": "r2"})
    assert reply.error == ""


async def test_what_the_owner_configured_needs_nobody(web: Web) -> None:
    house, visitor = web.house, ListClient(VISITOR)
    house.services.agent_defaults = {"courier": {"open_parcels": True, "vehicle": "van"}}

    async def opened(request: str, **more: Any) -> dict[str, Any]:
        reply = await house.ask("open", visitor, **opening(web, **more) | {"request": request})
        assert isinstance(reply.value, msgspec.Raw), reply
        session = msgspec.json.decode(reply.value, type=dict[str, str])["session"]
        state = house.sessions.get(SessionId(session)).memory.state
        return state.start.agent_options

    assert await opened("a") == {"open_parcels": True, "vehicle": "van"}
    chosen = {"open_parcels": False, "vehicle": "bicycle"}
    assert await opened("b", agent_options=chosen) == {"vehicle": "bicycle"}
    assert await opened("c", configured=False) == {}


async def test_what_one_session_was_granted_has_to_be_granted_again_for_its_copy(web: Web) -> None:
    house = web.house
    asked = opening(web, agent_options={"open_parcels": True})
    session = SessionId((await web.call("POST", "/sessions", asked)).json["session"])
    await house.say(house.sessions.get(session), "hi", "r2")
    questions = SessionQuestions(house.sessions, house.journal, house.services.blobs)
    branches = Branches(house.sessions, questions.open)
    params = BranchParams(session=session, request="fork")
    with pytest.raises(NotAllowedError, match="open_parcels"):
        await branches.fork(VISITOR, params)
    copy: Any = await branches.fork(EVERYTHING, params)
    state = house.sessions.get(copy["session"]).memory.state
    assert state.start.agent_options == {"open_parcels": True}


async def test_a_mode_that_keeps_an_option_set_is_recorded_with_it(web: Web) -> None:
    asked = opening(web, agent="recorder", mode="bypassPermissions")
    session = SessionId((await web.call("POST", "/sessions", asked)).json["session"])
    start = web.house.sessions.get(session).memory.state.start
    assert start.agent_options == {"allow_bypass": True}
