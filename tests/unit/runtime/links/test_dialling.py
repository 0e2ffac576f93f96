from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flybridge.errors import AgentStartError
from flybridge.model import events as e
from flybridge.model.capabilities import OpenSpec
from flybridge.model.ids import InputKey, SessionId
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.links.dialling import Dialling, settled_upto, was_met
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.services import Installed
from flybridge.runtime.unit_of_work import Memory, new_memory
from flybridge.session.ports import InputRow, Line, OutLine
from tests.harness.runtime_harness import House
from tests.unit.runtime.links.test_tickets import row


def memory(*numbers: int) -> Memory:
    made = new_memory(SessionId("ses_1"), 0)
    for number in numbers:
        key = InputKey(f"k{number}")
        made.rows[key] = InputRow(
            session=made.session,
            key=key,
            kind="message",
            by="",
            fingerprint="",
            stage="written",
            number=number,
        )
    return made


def out(*numbers: int) -> list[OutLine]:
    return [OutLine(number, Line(data=b"")) for number in numbers]


def test_lines_arrive_in_their_order() -> None:
    assert settled_upto(memory(), []) == 0
    assert settled_upto(memory(2, 5), []) == 5
    assert settled_upto(memory(2, 7), out(7, 8)) == 6


def test_an_agent_was_met_when_it_said_anything_or_took_its_first_line() -> None:
    assert not was_met(memory(), out(1, 2))
    assert was_met(memory(), out(2))
    assert was_met(memory(), [])
    heard = memory()
    heard.consumed = 5
    assert was_met(heard, out(1))


def dialling(house: House, labels: dict[str, str] | None = None) -> Dialling:
    made = new_memory(SessionId("ses_1"), 0)
    made.state.labels = labels or {}
    return Dialling(LiveSession(made, house.services))


def test_a_session_in_a_slot_comes_under_its_number(tmp_path: Path) -> None:
    house = House(tmp_path)
    assert dialling(house).place == "ses_1"
    assert dialling(house, {"companion.slot": "3"}).place == "3"
    assert dialling(house, {"companion.slot": "x"}).place == "ses_1"


def test_what_a_keeper_runs_depends_on_who_starts_the_agent(tmp_path: Path) -> None:
    one, life = dialling(House(tmp_path)), row()
    assert one.program(life, ("claude", "-x")) == (("claude", "-x"), "stdio")
    life.transport = "socket"
    assert one.program(life, ("claude", "-x")) == (("claude", "-x"), "none")
    life.transport = "by_hand"
    argv, pipes = one.program(life, ("claude", "-x"))
    assert (argv[:3], pipes) == ((sys.executable, "-I", "-S"), "stdio")
    assert argv[3].endswith("stand_in_program.py")


async def test_a_gateway_without_a_door_starts_none_that_would_need_it(tmp_path: Path) -> None:
    one, life = dialling(House(tmp_path)), row()
    spec = OpenSpec(agent="claude", cwd="/")
    assert await one.announced(spec, life) is spec
    life.transport = "socket"
    with pytest.raises(AgentStartError, match="takes no connections"):
        await one.announced(spec, life)


async def test_such_a_session_ends_with_a_reason(short_tmp: Path) -> None:
    house = House(short_tmp, flags=[])
    known = house.services.shelf.running("recorder", "claude", "2.1.38")
    assert known is not None
    agent: Installed = known
    assert "socket" in agent.capabilities.transports

    class Old(AgentShelf):
        async def get(self, name: str) -> Installed:
            return agent

    house.services.shelf = Old({"recorder": (agent.agent, agent.environment)})
    await house.open(options={"transport": "socket"})
    ended = await house.saw(e.AgentExited)
    assert ended.why == "not_started"
    assert "takes no connections" in ended.stderr_tail
    await house.end()
