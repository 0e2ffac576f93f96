"""A session whose agent is of a kind that this gateway does not know: read-only, nothing lost."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.runtime.keeper.process import alive
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.live_session import BIG_LINE, LiveSession
from flybridge.session.effects import Effect
from tests.harness.other_agent import script
from tests.harness.runtime_harness import House
from tests.harness.waiting import until

ASK = {"tool": "shell", "input": {"command": "ls"}, "ask": True}


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp)
    yield house
    await house.die()


def without_courier(house: House) -> House:
    """Return the gateway that comes next, which has never heard of the courier."""
    after = house.next(house.journal)
    recorder = after.services.shelf
    assert isinstance(recorder, AgentShelf)
    configured = {name: one for name, one in recorder._agents.items() if name != "courier"}
    after.services.shelf = AgentShelf(configured, make=recorder._make)
    return after


async def restarted(house: House, live: LiveSession, *, known: bool) -> House:
    await house.die()
    after = house.next(house.journal) if known else without_courier(house)
    await after.sessions.recover()
    await after.attach(live.session)
    return after


def agent_of(live: LiveSession) -> tuple[int, str]:
    row = live.memory.incarnation
    assert row is not None
    return row.agent_pid, row.agent_start


async def test_opening_records_the_kind_and_the_version(house: House) -> None:
    live = await house.open("courier")
    opened = await house.saw(e.SessionOpened)
    assert (opened.kind, opened.version) == ("courier", "3.4.5")
    (row,) = house.journal.sessions()
    assert row.kind == live.memory.state.kind == "courier"
    await house.end()


async def test_a_live_agent_of_an_unknown_kind_is_left_alone_and_its_session_is_read_only(
    house: House,
) -> None:
    live = await house.open("courier")
    await house.say(live, script(ASK, {"text": "after"}), "r1", Stage.WRITTEN)
    asked = await house.saw(e.PermissionRequested)
    agent, before = agent_of(live), live.memory.state.seq
    stranger = await restarted(house, live, known=False)
    held = stranger.sessions.get(live.session)
    assert held.memory.state.seq == before  # nothing was said in the agent's name
    assert held.memory.state.prompts
    answer = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    for request, command in (
        ("a1", answer),
        ("i1", c.Interrupt()),
        ("m1", c.SetMode(mode="free")),
    ):
        refused = await stranger.submit(live.session, command, request)
        assert refused.error == "agent_unavailable"
        assert "'courier', which this gateway does not know. Install the package" in refused.message
    assert (await stranger.say(held, "hello", "r2")).error == "agent_unavailable"
    assert (await stranger.ask("query", session=live.session, name="status")).error
    renamed = await stranger.submit(live.session, c.Rename(title="kept"), "n1")
    assert renamed.stage == Stage.DONE
    assert alive(*agent)

    back = await restarted(stranger, live, known=True)
    assert agent_of(back.sessions.get(live.session)) == agent
    assert (await back.submit(live.session, answer, "a2", Stage.DONE)).stage == Stage.DONE
    await back.saw(e.TurnEnded)
    assert [text.text for text in back.client.of(e.TextDone)] == ["after"]
    assert not back.client.of(e.Gap)
    await back.end()


async def test_what_the_agent_says_meanwhile_and_its_end_are_read_by_the_next_gateway(
    house: House, short_tmp: Path
) -> None:
    live = await house.open("courier")
    go = short_tmp / "go"
    steps = ({"wait_file": str(go)}, {"text": "said meanwhile"}, {"die": 7})
    await house.say(live, script(*steps), "r1", Stage.OBSERVED)
    agent = agent_of(live)
    stranger = await restarted(house, live, known=False)
    go.touch()
    await until(lambda: not alive(*agent))
    held = stranger.sessions.get(live.session)
    await until(lambda: stranger.sessions._supervisors[live.session]._unread_exit is not None)
    assert held.memory.state.phase == "live"
    assert not stranger.client.of(e.AgentExited)
    back = await restarted(stranger, live, known=True)
    exited = await back.saw(e.AgentExited)
    assert (exited.why, exited.status) == ("exit", 7)
    assert [text.text for text in back.client.of(e.TextDone)] == ["said meanwhile"]
    assert not back.client.of(e.Gap)
    await back.die()


async def test_a_huge_line_of_an_unknown_kind_is_kept_for_the_next_gateway(
    house: House, short_tmp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = await house.open("courier")
    go, text = short_tmp / "go", "x" * (BIG_LINE + 1)
    steps = ({"wait_file": str(go)}, {"raw": {"text": "t1", "add": text}}, {"text": "after"}, ASK)
    await house.say(live, script(*steps), "r1", Stage.OBSERVED)
    await house.saw(e.TurnStarted)
    agent = agent_of(live)
    received: list[int] = []
    on_lines = LiveSession.on_lines

    def spy(self: LiveSession, lines: list[bytes], consumed: int) -> None:
        received.extend(len(line) for line in lines)
        on_lines(self, lines, consumed)

    monkeypatch.setattr(LiveSession, "on_lines", spy)
    stranger = await restarted(house, live, known=False)
    held = stranger.sessions.get(live.session)
    before = held.memory.consumed
    go.touch()
    await until(lambda: any(size > BIG_LINE for size in received))
    await held.free()
    renamed = await stranger.submit(live.session, c.Rename(title="kept"), "n1")  # a commit
    assert renamed.stage == Stage.DONE
    assert held.memory.consumed == before
    assert not stranger.client.of(e.Error)
    assert alive(*agent)

    back = await restarted(stranger, live, known=True)
    assert agent_of(back.sessions.get(live.session)) == agent
    await back.saw(e.PermissionRequested)
    assert [one.text for one in back.client.of(e.TextDone)][-1] == "after"
    assert not back.client.of(e.Gap)
    await back.end()


@pytest.mark.parametrize("exited_first", [False, True])
async def test_a_held_agent_is_ended_by_whoever_asks_for_that(
    house: House, short_tmp: Path, exited_first: bool
) -> None:
    live = await house.open("courier")
    go = short_tmp / "go"
    steps = ({"wait_file": str(go)}, {"die": 0})
    await house.say(live, script(*steps), "r1", Stage.OBSERVED)
    await house.saw(e.TurnStarted)
    agent = agent_of(live)
    stranger = await restarted(house, live, known=False)
    if exited_first:
        go.touch()
        supervisor = stranger.sessions._supervisors[live.session]
        await until(lambda: supervisor._unread_exit is not None)
    await stranger.sessions.stop_agent(live.session)
    exited = await stranger.saw(e.AgentExited)
    assert exited.asked
    assert exited.status in (0, -signal.SIGTERM)
    await until(lambda: not alive(*agent))
    assert stranger.client.of(e.TurnEnded)[-1].reason == "agent_exited"
    # the session stays, and still takes no input
    refused = await stranger.say(stranger.sessions.get(live.session), "hello", "r2")
    assert refused.error == "agent_unavailable"
    await stranger.die()


async def test_a_name_that_now_means_another_kind_starts_nothing_in_an_old_session(
    house: House,
) -> None:
    live = await house.open("courier")
    await house.say(live, "a parcel", "r1")
    await house.sessions.stop_agent(live.session)
    await house.die()
    after = house.next(house.journal)
    shelf = after.services.shelf
    assert isinstance(shelf, AgentShelf)
    agents = {**shelf._agents, "courier": shelf._agents["recorder"]}
    after.services.shelf = AgentShelf(agents, make=lambda name, kind: None)
    await after.sessions.recover()
    refused = await after.say(after.sessions.get(live.session), "another", "r2")
    assert refused.error == "agent_unavailable"
    assert not after.record.exists()  # the recorder was never started
    await after.die()


@pytest.mark.parametrize("recorded", [True, False])
async def test_a_name_that_changes_its_kind_before_the_start_starts_nothing(
    house: House, recorded: bool
) -> None:
    """Not ``recorded``: a session of version 0.1, which was one of Claude Code."""
    name = "courier" if recorded else "recorder"
    live = await house.open(name)
    await house.say(live, "hello", "r1")
    await house.sessions.stop_agent(live.session)
    shelf, own = house.services.shelf, live.installed
    assert isinstance(shelf, AgentShelf)
    assert own is not None
    if not recorded:
        live.memory.state.kind = ""
    other = shelf._agents["recorder" if recorded else "courier"]
    changed = AgentShelf({**shelf._agents, name: other}, make=lambda name, kind: own.agent)
    carry_out = live.effects

    def change_first(effect: Effect) -> None:
        house.services.shelf = changed
        carry_out(effect)

    live.effects = change_first
    await house.say(live, "again", "r2", Stage.ACCEPTED)
    exited = await house.saw(e.AgentExited, 2)
    assert exited.why == "not_started"
    assert f"was of the kind {own.agent.kind!r} and is now of the kind" in exited.stderr_tail
    assert live.installed is own  # no driver of another kind reported the end


async def test_a_session_of_an_unknown_kind_without_an_agent_can_be_closed_and_deleted(
    house: House,
) -> None:
    live = await house.open("courier")
    await house.say(live, "a parcel", "r1")
    stranger = await restarted(house, live, known=False)
    closed = await stranger.submit(live.session, c.Close(reason="enough"), "c1")
    assert closed.stage == Stage.DONE
    await stranger.saw(e.AgentExited)
    await stranger.submit(live.session, c.Delete(), "d1")
    await until(lambda: not stranger.journal.sessions())
    await stranger.die()
