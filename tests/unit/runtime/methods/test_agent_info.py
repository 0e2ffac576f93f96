from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.model import events as e
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.methods.agent_info import AgentInfo, InfoParams
from flybridge.runtime.methods.overview import Overview
from tests.harness.runtime_harness import House


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp)
    extra = Overview(house.services, house.sessions).table()
    services = house.services
    house.desk = Desk(house.sessions, services.hub, house.journal, services.blobs, extra)
    yield house
    await house.end()


async def info(house: House, session: str, name: str, **params: Any) -> dict[str, Any]:
    reply = await house.ask("agent_info", session=session, name=name, params=params)
    if reply.error:
        return {"error": reply.error}
    answer: dict[str, Any] = msgspec.json.decode(reply.value)  # type: ignore[arg-type]
    return answer


async def test_an_agent_that_is_not_claude_is_asked_in_our_words(house: House) -> None:
    live = await house.open("courier", model="van")
    await house.saw(e.AgentReady)
    (model,) = (await info(house, live.session, "models"))["models"]
    assert model["id"] == "van"
    assert (await info(house, live.session, "context"))["error"] == "not_supported"
    raw = await house.ask("query", session=live.session, name="status", params={})
    assert msgspec.json.decode(raw.value)["name"] == "status"  # type: ignore[arg-type]


async def test_modes_and_commands_are_known_without_asking(house: House) -> None:
    live = await house.open("recorder")
    await house.say(live, "hello", "r1")
    modes = (await info(house, live.session, "modes"))["modes"]
    installed = live.installed
    assert installed is not None
    assert {mode["id"] for mode in modes} == installed.capabilities.modes
    ready = await house.saw(e.AgentReady)
    commands = (await info(house, live.session, "commands"))["commands"]
    assert {command["name"] for command in commands} == set(ready.commands)
    await house.sessions.stop_agent(live.session)
    assert (await info(house, live.session, "modes"))["modes"] == modes
    assert (await info(house, live.session, "models"))["error"] == "busy"


async def test_a_name_that_nobody_knows_is_an_invalid_request(house: House) -> None:
    live = await house.open("courier")
    assert (await info(house, live.session, "weather"))["error"] == "invalid_request"
    assert AgentInfo.__doc__
    assert InfoParams.__struct_fields__ == ("session", "name", "params")
