"""Messages wait for an agent that needs a handshake, and leave at most once."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import Capabilities
from flybridge.model.deliveries import Stage
from flybridge.model.ids import InputKey, SessionId
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.live_session import LiveSession
from flybridge.runtime.services import Timing
from flybridge.session.ports import IncarnationRow, Journal
from flybridge.session.waiting import NOT_ACCEPTING
from flybridge.store.memory import MemoryJournal
from tests.harness.other_agent import PROGRAM, CourierAgent, CourierDriver
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


class KeepingDriver(CourierDriver):
    """Takes messages and writes none of them."""

    def send(self, session: SessionId, command: c.Command, key: InputKey, now_ms: int) -> None:
        if not isinstance(command, c.SendInput):
            super().send(session, command, key, now_ms)


class KeepingAgent(CourierAgent):
    def driver(self, capabilities: Capabilities) -> CourierDriver:
        return KeepingDriver()


class Slow:
    """A gateway whose courier says hello once the file ``go`` exists, and notes what it reads."""

    def __init__(self, folder: Path, journal: Journal | None = None) -> None:
        self.house = House(folder, journal)
        self.go = folder / "go"
        options = ["--record", str(self.house.record), "--hello-after", str(self.go)]
        program = [*PROGRAM, *options]
        environment = {"PATH": "/usr/bin:/bin"}
        self.house.services.shelf = AgentShelf(
            {
                "slow": (CourierAgent(name="slow", program=program), environment),
                "keeping": (KeepingAgent(name="keeping", program=program), environment),
            }
        )

    async def open(self, agent: str = "slow") -> LiveSession:
        """Open a session whose agent is connected."""
        live = await self.house.open(agent)
        await self.house.saw(e.AgentConnected)
        return live

    def said(self) -> list[str]:
        """Return the messages that agents have read, in order."""
        if not self.house.record.exists():
            return []
        lines = [json.loads(line) for line in self.house.record.read_text().splitlines()]
        return [line["read"]["say"] for line in lines if "say" in line.get("read", {})]

    def row(self) -> IncarnationRow:
        (row,) = self.house.journal.live()
        return row


@pytest.fixture
async def slow(short_tmp: Path) -> AsyncIterator[Slow]:
    slow = Slow(short_tmp)
    yield slow
    await slow.house.end()


async def test_a_message_waits_for_the_handshake_and_is_sent_once(slow: Slow) -> None:
    live = await slow.open()
    reply = await slow.house.say(live, "early", "r1", Stage.ACCEPTED)
    assert reply.stage == Stage.ACCEPTED
    waiting = asyncio.ensure_future(slow.house.say(live, "second", "r2"))
    await until(lambda: len(live.memory.state.held()) == 2)
    connected = slow.house.client.of(e.AgentConnected)[-1]
    assert not connected.accepts_input
    assert slow.house.client.of(e.InputDispatched) == []
    assert live.showing.summary(slow.house.services.now_ms()).status == "starting"
    slow.go.touch()
    assert (await waiting).stage == Stage.DONE
    assert (await slow.house.say(live, "early", "r1")).stage == Stage.DONE  # the same request
    assert slow.said() == ["early", "second"]
    tags = slow.house.client.tags()
    assert tags.index("agent.accepts_input") < tags.index("input.dispatched")
    assert (await slow.house.say(live, "third", "r3")).stage == Stage.DONE


async def test_settings_do_not_wait_for_the_handshake(slow: Slow) -> None:
    live = await slow.open()
    reply = await slow.house.submit(live.session, c.SetModel(model="car"), "s1", Stage.WRITTEN)
    assert reply.stage == Stage.WRITTEN
    assert slow.house.client.of(e.AgentAcceptsInput) == []


@pytest.mark.parametrize("dies", ["agent", "keeper"])
async def test_a_message_to_an_agent_that_dies_before_its_handshake_may_be_sent_again(
    slow: Slow, dies: str
) -> None:
    live = await slow.open()
    await slow.house.say(live, "early", "r1", Stage.ACCEPTED)
    row = slow.row()
    os.kill(row.agent_pid if dies == "agent" else row.keeper_pid, signal.SIGKILL)
    outcome = await slow.house.saw(e.InputOutcome)
    assert outcome.outcome == "not_delivered"
    slow.go.touch()
    assert (await slow.house.say(live, "early", "r1")).stage == Stage.DONE
    assert slow.said() == ["early"]


@pytest.mark.parametrize("dies", ["agent", "keeper"])
async def test_a_message_that_its_driver_kept_back_was_not_delivered(slow: Slow, dies: str) -> None:
    slow.go.touch()
    live = await slow.open("keeping")
    await until(lambda: live.memory.state.accepts_input)
    await slow.house.say(live, "kept", "r1", Stage.ACCEPTED)
    await slow.house.saw(e.InputDispatched)
    row = slow.row()
    os.kill(row.agent_pid if dies == "agent" else row.keeper_pid, signal.SIGKILL)
    outcome = await slow.house.saw(e.InputOutcome)
    assert outcome.outcome == "not_delivered"
    again = await slow.house.say(live, "kept", "r1", Stage.ACCEPTED)
    assert again.error == ""
    assert slow.said() == []


async def test_an_agent_that_was_adopted_in_its_handshake_is_still_waited_for(
    short_tmp: Path,
) -> None:
    journal = MemoryJournal()
    first = Slow(short_tmp, journal)
    live = await first.open()
    await first.house.say(live, "queued", "r1", Stage.ACCEPTED, mode="queue")
    await first.house.say(live, "dropped", "r2", Stage.ACCEPTED)
    await first.house.die()
    second = Slow(short_tmp, journal)
    await second.house.sessions.recover()
    await second.house.attach(live.session)
    adopted = await second.house.saw(e.AgentConnected, 2)
    assert (adopted.adopted, adopted.accepts_input) == (True, False)
    again = second.house.sessions.get(live.session)
    assert len(again.memory.state.held()) == 1
    second.go.touch()
    await until(lambda: second.house.client.of(e.TurnEnded))
    assert second.said() == ["queued"]
    outcomes = {event.key: event.outcome for event in second.house.client.of(e.InputOutcome)}
    assert outcomes == {"me:r2": "not_delivered", "me:r1": "done"}
    await second.house.end()


async def test_an_agent_that_was_adopted_after_its_handshake_takes_messages_at_once(
    short_tmp: Path,
) -> None:
    journal = MemoryJournal()
    first = Slow(short_tmp, journal)
    first.go.touch()
    live = await first.open()
    assert (await first.house.say(live, "one", "r1")).stage == Stage.DONE
    await first.house.die()
    second = Slow(short_tmp, journal)
    await second.house.sessions.recover()
    await second.house.attach(live.session)
    again = second.house.sessions.get(live.session)
    assert (await second.house.say(again, "two", "r2")).stage == Stage.DONE
    assert second.said() == ["one", "two"]
    await second.house.end()


async def test_a_message_to_an_agent_that_never_takes_one_is_given_up_with_a_reason(
    slow: Slow,
) -> None:
    slow.house.services.timing = Timing(accept_s=1)
    live = await slow.open()
    reply = await slow.house.say(live, "early", "r1")
    assert reply.error == "not_delivered"
    (notice,) = slow.house.client.of(e.Notice)
    assert notice.text.startswith(NOT_ACCEPTING)
    assert slow.house.client.of(e.InputOutcome)[-1].reason == NOT_ACCEPTING
    slow.house.services.timing = Timing()
    again = asyncio.ensure_future(slow.house.say(live, "early", "r1"))  # the same request
    await until(lambda: len(live.memory.state.held()) == 1)
    slow.go.touch()
    assert (await again).stage == Stage.DONE
    assert slow.said() == ["early"]
