from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.runtime.services import Limits, Timing
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import WAIT_S


@pytest.fixture
def folder(short_tmp: Path) -> Path:
    return short_tmp


async def test_the_agent_that_was_idle_longest_makes_room_and_comes_back(folder: Path) -> None:
    house = House(folder, limits=Limits(agents=2))
    first = await house.open(request="1")
    await house.say(first, "hello", "r1")
    second = await house.open(request="2")
    await house.say(second, "hello", "r2")
    third = await house.open(request="3")
    assert (await house.say(third, "hello", "r3")).stage is Stage.DONE
    phases = [one.memory.state.phase for one in (first, second, third)]
    assert phases == ["none", "live", "live"]
    notice = house.client.of(e.Notice)[0]
    assert "room was needed" in notice.text
    assert (await house.say(first, "again", "r4")).stage is Stage.DONE
    assert first.memory.state.lives == 2
    assert second.memory.state.phase == "none"
    await house.end()


async def test_nobody_at_work_makes_room(folder: Path) -> None:
    house = House(folder, limits=Limits(agents=1))
    busy = await house.open(request="1")
    await house.say(busy, steps({"stall": 60}), "r1", Stage.OBSERVED)
    asked = {"agent": "recorder", "cwd": str(folder), "request": "2"}
    assert (await house.ask("open", **asked)).error == "busy"
    assert busy.memory.state.phase == "live"
    await house.end()


async def test_two_that_want_the_last_place_do_not_both_get_it(folder: Path) -> None:
    house = House(folder, limits=Limits(agents=1))
    asked = {"agent": "recorder", "cwd": str(folder)}
    replies = await asyncio.gather(*(house.ask("open", request=str(n), **asked) for n in range(4)))
    assert house.sessions.agents() == 1
    assert [one.error for one in replies].count("") >= 1
    await house.end()


async def test_after_a_while_an_idle_agent_is_put_away(folder: Path) -> None:
    house = House(folder)
    live = await house.open()
    await house.say(live, "hello", "r1")
    assert house.sessions.sweep() == 0  # it may stay for ever
    house.services.timing = Timing(idle_s=600)
    assert house.sessions.sweep() == 0
    now_ms = house.services.now_ms
    house.services.now_ms = lambda: now_ms() + 601_000
    assert house.sessions.sweep() == 1
    assert house.sessions.sweep() == 0
    await asyncio.wait_for(live.gone.wait(), WAIT_S)
    assert "idle for 10 minutes" in house.client.of(e.Notice)[0].text
    assert (await house.say(live, "again", "r2")).stage is Stage.DONE
    await house.end()
