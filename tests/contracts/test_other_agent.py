"""The courier works in the runtime, and its driver keeps the contract of drivers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.live_session import LiveSession
from flybridge.session.ports import CONVERSATION_ENV, Driver
from flybridge.testing.drivers import Connected, Conversation, DriverContract, Heard
from tests.harness.other_agent import PROGRAM, CourierAgent, CourierDriver, script
from tests.harness.runtime_harness import House
from tests.harness.waiting import until

LINES = (
    b'{"hello":"courier-1","version":"3.4.5","model":"bike","mode":"ask"}',
    b'{"got":"k1"}',
    b'{"turn":"begin"}',
    b'{"text":"t1","add":"two "}',
    b'{"text":"t1","add":"words "}',
    b'{"text":"t1","all":"two words"}',
    b'{"call":"c1","tool":"shell","input":{"command":"ls"}}',
    b'{"ask":"c1-ask","call":"c1","tool":"shell","input":{"command":"ls"},"offers":[{"id":"x"}]}',
    b'{"withdrawn":"c1-ask"}',
    b'{"call":"c1","result":"a b","status":"ok"}',
    b'{"turn":"end","reason":"done"}',
)


class TestCourier(DriverContract):
    def driver(self) -> Driver:
        return CourierDriver()

    def conversations(self) -> Sequence[Conversation]:
        return [Conversation("all", (Connected(), *(Heard(line) for line in LINES)))]


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp)
    yield house
    await house.end()


async def test_the_courier_answers_and_is_resumed_by_the_id_it_chose(house: House) -> None:
    live = await house.open("courier")
    assert (await house.say(live, "a parcel", "r1")).stage == Stage.DONE
    assert house.client.of(e.TextDone)[-1].text == "delivered: a parcel"
    conversation = live.memory.state.agent_session
    assert conversation.startswith("courier-")
    await house.sessions.stop_agent(live.session)
    assert (await house.say(live, "another", "r2")).stage == Stage.DONE
    assert live.memory.state.agent_session == conversation
    assert len(house.client.of(e.AgentReady)) == 2


async def test_the_courier_asks_and_obeys(house: House) -> None:
    live = await house.open("courier")
    tool = {"tool": "shell", "input": {"command": "ls"}, "ask": True}
    await house.say(live, script(tool), "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    assert (await house.submit(live.session, answer, "a1", Stage.DONE)).stage == Stage.DONE
    result = await house.saw(e.ToolResult)
    assert (result.status, result.text) == ("ok", 'ran shell {"command": "ls"}')
    await house.saw(e.TurnEnded)


async def test_a_question_an_interrupt_and_a_setting_reach_the_courier(house: House) -> None:
    live = await house.open("courier")
    questions = [{"question": "Where to?", "options": [{"label": "Home"}]}]
    await house.say(live, script({"ask_question": questions}), "r1", Stage.WRITTEN)
    asked = await house.saw(e.QuestionRequested)
    answer = c.AnswerQuestion(
        prompt=asked.prompt, digest=asked.digest, answers={"Where to?": ("Home",)}
    )
    await house.submit(live.session, answer, "a1", Stage.DONE)
    text = await house.saw(e.TextDone)
    assert text.text == 'answered: {"Where to?": ["Home"]}'
    await house.saw(e.TurnEnded)
    assert (await house.submit(live.session, c.SetMode(mode="free"), "m1", Stage.DONE)).stage == (
        Stage.DONE
    )
    await house.say(live, script({"tool": "shell", "ask": True}), "r2", Stage.WRITTEN)
    await house.saw(e.PermissionRequested)
    await house.submit(live.session, c.Interrupt(), "i1", Stage.DONE)
    ended = await house.saw(e.TurnEnded, 2)
    assert ended.reason == "interrupted"


async def test_a_new_gateway_adopts_the_courier_with_its_open_prompt(house: House) -> None:
    live = await house.open("courier")
    await house.say(live, script({"tool": "shell", "ask": True}), "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    await house.die()
    after = house.next(house.journal)
    await after.sessions.recover()
    await after.attach(live.session)
    answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="deny")
    assert (await after.submit(live.session, answer, "a1", Stage.DONE)).stage == Stage.DONE
    result = await after.saw(e.ToolResult)
    assert result.status == "denied"
    await after.end()


async def launched(live: LiveSession) -> list[str]:
    """Return the command line of the session's agent."""
    row = live.memory.incarnation
    assert row is not None
    await until(lambda: row.agent_pid)
    command = await asyncio.to_thread(Path(f"/proc/{row.agent_pid}/cmdline").read_text)
    return command.split("\0")


async def test_no_id_is_invented_for_an_agent_that_names_its_conversations(house: House) -> None:
    live = await house.open("courier")
    assert "--resume" not in await launched(live)
    row = live.memory.incarnation
    assert row is not None
    given = await asyncio.to_thread(Path(f"/proc/{row.agent_pid}/environ").read_text)
    assert f"{CONVERSATION_ENV}=" in given.split("\0")  # and no id behind it
    ready = await house.saw(e.AgentReady)
    assert live.memory.state.agent_session == ready.agent_session
    (listed,) = house.journal.sessions()
    assert listed.conversation == ready.agent_session
    assert house.services.conversation_ids is not None
    assert house.services.conversation_ids.is_taken(ready.agent_session, SessionId("another"))
    # it ended before anything was said: there is nothing to resume, and the next id is its own
    await house.sessions.stop_agent(live.session)
    await house.say(live, "a parcel", "r1")
    assert ready.agent_session not in await launched(live)
    assert live.memory.state.agent_session != ready.agent_session
    assert live.memory.state.conversations == [ready.agent_session]


async def test_a_fork_is_known_by_the_id_that_the_agent_tells(house: House) -> None:
    live = await house.open("courier")
    await house.say(live, "a parcel", "r1")
    original = live.memory.state.agent_session
    fork = await house.open("courier", request="fork", resume=original, fork=True)
    await house.say(fork, "another", "r2")
    assert ["--resume", original, "--fork"] == (await launched(fork))[-4:-1]
    copy = fork.memory.state.agent_session
    assert copy.startswith("courier-")
    assert copy != original
    await house.sessions.stop_agent(fork.session)
    await house.say(fork, "once more", "r3")  # the copy is resumed, and not copied again
    assert ["--resume", copy] == (await launched(fork))[-3:-1]
    assert not house.client.of(e.AlarmRaised)


async def test_an_agent_that_claims_the_conversation_of_another_session_raises_an_alarm(
    house: House,
) -> None:
    first = await house.open("courier")
    await house.say(first, "a parcel", "r1")
    taken = first.memory.state.agent_session
    second = await house.open("courier", request="second")
    await house.say(second, script({"raw": {"hello": taken}}), "r2")
    alarm = await house.saw(e.AlarmRaised)
    assert alarm.code == "conversation_id_taken"
    assert second.memory.state.agent_session not in ("", taken)


async def test_an_agent_that_never_told_its_id_starts_anew_and_the_log_says_so(
    house: House,
) -> None:
    shelf = house.services.shelf
    assert isinstance(shelf, AgentShelf)
    nameless = CourierAgent(program=(*PROGRAM, "--nameless"))
    house.services.shelf = AgentShelf({"courier": (nameless, {"PATH": "/usr/bin:/bin"})})
    live = await house.open("courier")
    await house.say(live, "a parcel", "r1")
    assert live.memory.state.agent_session == ""
    await house.sessions.stop_agent(live.session)
    assert (await house.say(live, "another", "r2")).stage == Stage.DONE
    assert "--resume" not in await launched(live)
    lost = await house.saw(e.ConversationLost)
    assert "never told the id" in lost.reason
