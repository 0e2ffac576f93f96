from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from flybridge.model import events as e
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.methods import queries
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


async def opened(house: House) -> LiveSession:
    live = await house.open()
    await house.saw(e.AgentReady)
    return live


async def ask(house: House, live: LiveSession, name: str) -> tuple[str, Any]:
    reply = await house.ask("query", session=live.session, name=name)
    value = msgspec.json.decode(reply.value) if isinstance(reply.value, msgspec.Raw) else None
    return reply.error, value


async def test_an_agent_answers_what_it_is_asked_and_the_log_does_not_grow(house: House) -> None:
    live = await opened(house)
    head = live.memory.state.seq
    assert await ask(house, live, "mcp") == ("", {"mcpServers": []})
    assert live.memory.state.seq == head


async def test_what_the_agent_refuses_or_cannot_be_asked_has_a_name(house: House) -> None:
    live = await opened(house)
    assert (await ask(house, live, "usage"))[0] == "not_supported"  # says the agent itself
    assert (await ask(house, live, "task_output"))[0] == "invalid_request"  # of which task?
    assert (await ask(house, live, "weather"))[0] == "not_supported"
    assert (await ask(house, live, ""))[0] == "not_supported"


async def test_a_query_without_an_answer_ends_with_its_agent(house: House) -> None:
    live = await opened(house)
    asking = asyncio.create_task(ask(house, live, "plan"))
    await until(lambda: live.queries.open)
    await house.ask("stop_agent", session=live.session)
    assert (await asking)[0] == "query_failed"
    assert (await ask(house, live, "mcp"))[0] == "busy"


async def test_a_query_without_an_answer_is_given_up(house: House) -> None:
    live = await opened(house)
    now_ms = house.services.now_ms
    asking = asyncio.create_task(ask(house, live, "plan"))
    await until(lambda: live.queries.open)
    house.services.now_ms = lambda: now_ms() + 60_000  # the driver's patience, not ours
    assert await ask(house, live, "mcp") == ("", {"mcpServers": []})
    assert (await asking)[0] == "query_failed"


async def test_queries_are_counted(house: House) -> None:
    live = await opened(house)
    many = [asyncio.create_task(ask(house, live, "plan")) for _ in range(queries.MAX_OPEN + 1)]
    await until(lambda: any(one.done() for one in many))
    assert [one.result()[0] for one in many if one.done()] == ["busy"]
    await house.ask("stop_agent", session=live.session)
    assert {(await one)[0] for one in many} == {"busy", "query_failed"}
    assert not live.queries.open


async def test_nobody_waits_for_a_session_that_is_put_away(house: House) -> None:
    live = await opened(house)
    asking = asyncio.create_task(live.queries.ask("plan", msgspec.Raw(b"{}")))
    await until(lambda: live.queries.open)
    live.queries.close()
    with pytest.raises(asyncio.CancelledError):
        await asking
