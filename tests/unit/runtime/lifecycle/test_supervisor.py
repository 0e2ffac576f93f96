from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Sequence
from pathlib import Path

import pytest

from flybridge.agents.claude.agent import ClaudeAgent
from flybridge.agents.claude.driver.driver import ClaudeDriver
from flybridge.errors import StorageError, StorageFullError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.capabilities import Capabilities
from flybridge.model.deliveries import Stage
from flybridge.model.ids import PromptId, TurnId
from flybridge.runtime.keeper.process import alive
from flybridge.runtime.lifecycle.agents import AgentShelf
from flybridge.runtime.live_session import LiveSession
from flybridge.store.memory import MemoryJournal
from flybridge.testing import recorder
from flybridge.testing.faulty import Fault, FaultyJournal
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import until

ASKS = steps(
    {"say": "I will look.", "deltas": 3},
    {"tool": "Bash", "input": {"command": "ls"}, "ask": True, "result": "files"},
    {"say": "Done.", "deltas": 2},
)


WHOLE = "half a sentence and no more"


def journal_of(house: House) -> MemoryJournal:
    assert isinstance(house.journal, MemoryJournal)
    return house.journal


async def reborn(house: House, **more: object) -> House:
    """Another gateway takes over from one that died."""
    await house.die()
    new = house.next(journal_of(house).reopen(), **more)
    await new.sessions.recover()
    for row in new.sessions.rows():
        await new.attach(row.session)
    return new


def outcomes(house: House) -> dict[str, str]:
    return {one.key: one.outcome for one in house.client.of(e.InputOutcome)}


async def test_an_agent_goes_on_while_no_gateway_lives(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    gate = short_tmp / "gate"
    text = steps(
        {"say": "one two three", "deltas": 3}, {"wait_file": str(gate)}, {"say": "four five"}
    )
    await house.say(live, text, "r1", Stage.OBSERVED)
    await until(lambda: house.client.of(e.TextDone))
    await house.die()
    gate.touch()
    new = house.next(journal_of(house).reopen())
    await new.sessions.recover()
    await new.attach(live.session)
    ended = await new.saw(e.TurnEnded)
    assert ended.reason == "done"
    assert [one.text for one in new.client.of(e.TextDone)] == ["one two three", "four five"]
    assert new.client.of(e.AgentConnected)[-1].adopted
    assert outcomes(new) == {"me:r1": "done"}
    assert len(recorder.executed(str(new.record))) == 1
    assert new.client.seqs() == list(range(1, len(new.client.events) + 1))
    await new.end()


async def test_a_half_streamed_text_is_exact_after_a_takeover(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    gate = short_tmp / "gate"
    text = steps({"say": WHOLE, "deltas": 9, "hold": str(gate)})
    await house.say(live, text, "r1", Stage.OBSERVED)
    await until(lambda: sum(one.upto - one.since for one in house.client.previews) == 9)
    new = await reborn(house)
    await until(lambda: [one.text for one in new.client.previews][-1:] == [WHOLE])
    reply = await new.submit(live.session, c.Interrupt(), "i1", Stage.DONE)
    assert reply.stage is Stage.DONE
    await new.saw(e.TurnEnded)
    done = new.client.of(e.TextDone)
    assert [(one.text, one.status) for one in done] == [(WHOLE, "partial")]
    await new.end()


async def test_an_open_prompt_can_be_answered_after_a_takeover(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    await house.saw(e.PermissionRequested)
    new = await reborn(house)
    asked = await new.saw(e.PermissionRequested)
    allow = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    assert (await new.submit(live.session, allow, "a1", Stage.DONE)).stage is Stage.DONE
    await new.saw(e.TurnEnded)
    assert len(recorder.ran(str(new.record))) == 1
    await new.end()


async def test_a_message_that_waited_for_the_agent_is_not_sent_by_a_new_gateway(
    short_tmp: Path,
) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, steps({"stall": 60}), "r1", Stage.OBSERVED)
    await house.say(live, "queued", "q1", Stage.ACCEPTED, mode="queue")
    new = await reborn(house)
    await new.submit(live.session, c.Interrupt(), "i1", Stage.DONE)
    await until(lambda: outcomes(new).get("me:q1") == "done")  # queued: meant to run later
    assert len(recorder.executed(str(new.record))) == 2
    await new.end()


async def test_what_a_dead_gateway_never_sent_may_be_tried_again(short_tmp: Path) -> None:
    class Unsynced(MemoryJournal):
        """Its barrier never returns: as if the power had gone in the middle of it."""

        async def _never(self) -> None:
            await asyncio.Event().wait()

        def barrier(self) -> Awaitable[None]:
            return self._never()

    house = House(short_tmp)
    live = await house.open()
    await until(lambda: house.client.of(e.AgentConnected))
    house.services.journal = Unsynced(journal_of(house).disk)
    house.services.journal.generation = house.journal.generation
    reply = await house.say(live, "hello", "r1", wait_ms=100)
    assert reply.error == "in_progress"
    assert isinstance(house.services.journal, MemoryJournal)
    house.journal = house.services.journal
    new = await reborn(house)
    await until(lambda: outcomes(new) == {"me:r1": "not_delivered"})
    again = await new.say(live, "hello", "r1")
    assert (again.stage, again.duplicate) == (Stage.DONE, False)
    accepted = new.client.of(e.InputAccepted)
    assert [one.attempt for one in accepted] == [1, 2]
    assert len(recorder.executed(str(new.record))) == 1
    await new.end()


@pytest.mark.parametrize("phase", ["idle", "running", "asking"])
async def test_the_death_of_a_keeper_is_seen_and_said(short_tmp: Path, phase: str) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, "first", "r0")
    if phase == "running":
        await house.say(live, steps({"stall": 60}), "r1", Stage.OBSERVED)
    if phase == "asking":
        await house.say(live, ASKS, "r1", Stage.OBSERVED)
        await house.saw(e.PermissionRequested)
    row = live.memory.incarnation
    assert row is not None
    os.kill(row.keeper_pid, signal.SIGKILL)
    exited = await house.saw(e.AgentExited)
    assert exited.why == "keeper_died"
    assert not alive(row.agent_pid, row.agent_start)
    assert house.client.of(e.Gap)
    if phase == "asking":
        assert house.client.of(e.PermissionClosed)[-1].how == "orphaned"
    again = await house.say(live, "and on", "r2")
    assert again.stage is Stage.DONE
    await house.end()


async def test_the_death_of_an_agent_is_reported_with_its_last_words(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, steps({"stderr": "I am ill\n"}, {"die": 3}), "r1", Stage.OBSERVED)
    exited = await house.saw(e.AgentExited)
    assert (exited.why, exited.status, exited.asked) == ("exit", 3, False)
    assert "I am ill" in exited.stderr_tail
    assert outcomes(house) == {"me:r1": "observed"}
    await house.end()


async def test_an_agent_that_cannot_start_says_why(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open(cwd=str(short_tmp))
    await house.say(live, "hi", "r1")
    await house.submit(live.session, c.Interrupt(hard=True), "k", Stage.DONE)
    await house.saw(e.AgentExited)
    keepers = house.services.keepers
    house.services.keepers = short_tmp / "missing"
    await house.say(live, "hi", "r2", Stage.ACCEPTED)
    exited = await house.saw(e.AgentExited, 2)
    assert exited.why == "not_started"
    assert outcomes(house)["me:r2"] == "not_delivered"
    house.services.keepers = keepers
    assert (await house.say(live, "hi", "r2")).stage is Stage.DONE
    await house.end()


async def test_an_agent_that_will_not_end_is_killed(short_tmp: Path) -> None:
    house = House(short_tmp, grace_s=0.2)
    live = await house.open()
    await house.say(live, steps({"ignore_term": True}, {"stall": 60}), "r1", Stage.OBSERVED)
    await house.saw(e.TurnStarted)
    row = live.memory.incarnation
    assert row is not None
    await house.submit(live.session, c.Close(), "c1", Stage.DONE)
    exited = await house.saw(e.AgentExited)
    assert exited.asked
    assert not alive(row.agent_pid, row.agent_start)
    await house.end()


async def test_after_a_reboot_nothing_is_killed_and_everything_is_closed(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    await house.saw(e.PermissionRequested)
    row = live.memory.incarnation
    assert row is not None
    await house.die()
    new = house.next(journal_of(house).reopen(boot="another"), boot="another")
    await new.sessions.recover()
    await new.attach(live.session)
    exited = await new.saw(e.AgentExited)
    assert exited.why == "reboot"
    assert alive(row.agent_pid, row.agent_start)
    os.kill(row.keeper_pid, signal.SIGKILL)
    await until(lambda: not alive(row.agent_pid, row.agent_start))
    await new.end()


RETRY = ("storage_failed", "storage_full", "keeper", "in_progress", "not_delivered")


async def ask_and_allow(house: House, live: LiveSession) -> None:
    """One turn with a permission, by a client that retries whatever the disk refused."""
    while (reply := await house.say(live, ASKS, "r1", Stage.OBSERVED)).error:
        assert reply.error in RETRY, reply
        await asyncio.sleep(0.01)
    asked = await house.saw(e.PermissionRequested)
    allow = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    while (reply := await house.submit(live.session, allow, "a1", Stage.WRITTEN)).error:
        assert reply.error in RETRY, reply
        await asyncio.sleep(0.01)
    await house.saw(e.TurnEnded)
    await until(lambda: outcomes(house).get("me:r1") == "done")


@pytest.mark.parametrize("kind", ["commit", "barrier"])
async def test_a_disk_that_refuses_at_any_write_loses_and_doubles_nothing(
    short_tmp: Path, kind: str
) -> None:
    tried = 0
    for number in range(1, 60):
        folder = short_tmp / str(number)
        folder.mkdir()
        fault = Fault(first=number, last=number, error=StorageError)
        inner = MemoryJournal()
        journal = (
            FaultyJournal(inner, commit=fault)
            if kind == "commit"
            else FaultyJournal(inner, barrier=fault)
        )
        house = House(folder, journal)
        params = {"agent": "recorder", "cwd": str(folder), "request": "open"}
        while (await house.ask("open", **params)).error:
            await asyncio.sleep(0.01)
            journal.recover()
        live = await house.open()
        await until(lambda house=house: house.client.of(e.AgentConnected))  # type: ignore[misc]
        await ask_and_allow(house, live)
        hit = (journal.commits if kind == "commit" else journal.barriers) >= number
        assert len(recorder.executed(str(house.record))) == 1
        assert len(recorder.ran(str(house.record))) == 1
        texts = [one.text for one in house.client.of(e.TextDone)]
        assert texts == ["I will look.", "Done."]
        assert house.client.seqs() == list(range(1, len(house.client.events) + 1))
        assert "unknown" not in outcomes(house).values()
        await house.end()
        tried += hit
        if not hit:
            break
    assert tried >= (8 if kind == "commit" else 2)


@pytest.mark.parametrize("error", [StorageError, StorageFullError])
async def test_interrupts_and_denials_work_while_the_disk_refuses(
    short_tmp: Path, error: type[StorageError]
) -> None:
    inner = MemoryJournal()
    journal = FaultyJournal(inner, ballast=False)
    house = House(short_tmp, journal)
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    record = str(house.record)
    asked = await house.saw(e.PermissionRequested)
    journal._commit = Fault(first=0, last=10**9, error=error)
    journal._recover = Fault(first=0, last=10**9, error=error)
    refused = await house.say(live, "more", "r2")
    assert refused.error == error.code
    deny = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="deny")
    reply = await house.submit(live.session, deny, "a1")
    assert (reply.error, "not recorded" in reply.message) == (error.code, True)
    await until(lambda: any(one.kind == "answer" for one in recorder.read_record(record)))
    assert recorder.ran(str(house.record)) == []
    interrupt = await house.submit(live.session, c.Interrupt(), "i1")
    assert "not recorded" in interrupt.message
    wrong = await house.submit(live.session, c.Interrupt(turn=TurnId("trn_9")), "i2")
    assert wrong.error == "not_supported"
    journal._commit = journal._recover = None
    await until(lambda: live.down is None)
    await house.saw(e.TurnEnded)
    closed = house.client.of(e.PermissionClosed)
    assert [one.how for one in closed] == ["cancelled"]
    assert house.client.seqs() == list(range(1, len(house.client.events) + 1))
    assert (await house.say(live, "more", "r2")).stage is Stage.DONE
    await house.end()


async def test_a_prompt_of_another_life_cannot_be_answered(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    asked = await house.saw(e.PermissionRequested)
    await house.submit(live.session, c.Interrupt(hard=True), "k", Stage.DONE)
    await house.saw(e.AgentExited)
    allow = c.AnswerPermission(prompt=PromptId(asked.prompt), digest=asked.digest, decision="allow")
    assert (await house.submit(live.session, allow, "a1")).error == "already_closed"
    await house.end()


async def test_a_driver_that_breaks_costs_its_agent_and_not_the_gateway(
    short_tmp: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Brittle(ClaudeDriver):
        def receive(self, messages: Sequence[bytes], now_ms: int) -> None:
            if any(b"poison" in one and b"assistant" in one for one in messages):
                raise RuntimeError("a bug of ours")
            super().receive(messages, now_ms)

    class BrittleAgent(ClaudeAgent):
        def driver(self, capabilities: Capabilities) -> ClaudeDriver:
            return Brittle(capabilities)

    house = House(short_tmp)
    installed = await house.services.shelf.get("recorder")
    brittle = BrittleAgent(name="recorder", program=house.program)
    house.services.shelf = AgentShelf({"recorder": (brittle, installed.environment)})
    live = await house.open()
    await house.say(live, steps({"say": "poison"}, {"stall": 60}), "r1", Stage.WRITTEN)
    exited = await house.saw(e.AgentExited)
    assert "could not be taken in" in exited.stderr_tail
    assert (await house.say(live, "fine", "r2")).stage is Stage.DONE
    assert sum("could not take in" in one.message for one in caplog.records) == 3
    await house.end()
