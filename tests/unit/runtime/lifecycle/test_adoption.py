from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from pathlib import Path

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.runtime.lifecycle.adoption import FORGOTTEN
from flybridge.runtime.live_session import LiveSession
from flybridge.store.memory import MemoryJournal
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import until

ASKS = steps({"tool": "Bash", "input": {"command": "ls"}, "ask": True, "result": "files"})


class NeverSynced(MemoryJournal):
    """A disk whose sync does not return: what is committed never leaves."""

    def barrier(self) -> Awaitable[None]:
        return asyncio.Event().wait()  # type: ignore[return-value]


async def stuck_behind_a_barrier(house: House) -> None:
    """From here on nothing this gateway commits gets as far as the keeper.

    The agent has named its conversation before: the gateway looks that name up in the journal
    that is replaced here.
    """
    await until(lambda: any(ready.agent_session for ready in house.client.of(e.AgentReady)))
    assert isinstance(house.journal, MemoryJournal)
    stuck = NeverSynced(house.journal.disk)
    stuck.generation = house.journal.generation
    house.journal = house.services.journal = stuck


async def successor(house: House) -> House:
    await house.die()
    assert isinstance(house.journal, MemoryJournal)
    new = house.next(MemoryJournal(house.journal.disk))
    await new.sessions.recover()
    for row in new.sessions.rows():
        await new.attach(row.session)
    return new


def outcomes(house: House) -> dict[str, str]:
    return {one.key: one.outcome for one in house.client.of(e.InputOutcome)}


async def test_a_decided_answer_goes_on_and_an_interrupt_is_dropped(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, ASKS, "r1", Stage.OBSERVED)
    asked = await house.saw(e.PermissionRequested)
    await stuck_behind_a_barrier(house)
    interrupt = await house.submit(live.session, c.Interrupt(), "i1", wait_ms=20)
    message = await house.say(live, "more", "m1", wait_ms=20)
    allow = c.AnswerPermission(prompt=asked.prompt, digest=asked.digest, decision="allow")
    answer = await house.submit(live.session, allow, "a1", wait_ms=20)
    assert {interrupt.error, message.error, answer.error} == {"in_progress"}
    new = await successor(house)
    await new.saw(e.TurnEnded)
    await until(lambda: len(outcomes(new)) == 4)
    assert outcomes(new) == {
        "me:r1": "done",
        "me:i1": "not_delivered",
        "me:m1": "not_delivered",
        f"prompt:{asked.prompt}": "done",
    }
    assert len(recorder.ran(str(new.record))) == 1
    assert len(recorder.executed(str(new.record))) == 1
    assert (await new.say(live, "more", "m1")).stage is Stage.DONE
    await new.end()


async def test_a_message_that_waited_for_a_starting_agent_is_not_sent_late(
    short_tmp: Path,
) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, "hi", "r1")
    await house.submit(live.session, c.Interrupt(hard=True), "k", Stage.DONE)
    await house.saw(e.AgentExited)
    await house.say(live, "late", "m1", Stage.ACCEPTED)  # starts the agent, and dies at once
    new = await successor(house)
    await until(lambda: "me:m1" in outcomes(new))
    assert outcomes(new)["me:m1"] == "not_delivered"
    assert len(recorder.executed(str(new.record))) == 1
    assert (await new.say(live, "late", "m1")).stage is Stage.DONE
    await new.end()


async def test_the_first_hello_to_an_agent_is_repeated_if_it_never_left(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    assert (await house.say(live, "hi", "r1")).stage is Stage.DONE
    first = recorder.lines(str(house.record))[0]
    assert b"initialize" in first
    new = await successor(house)
    assert (await new.say(live, "ho", "r2")).stage is Stage.DONE
    assert sum(b"initialize" in line for line in recorder.lines(str(new.record))) == 1
    await new.end()


async def confided(house: House) -> LiveSession:
    """A session whose agent was told a secret."""
    live = await house.open()
    await house.say(live, "hello", "r1")
    told = c.SendInput(content=(Text("the canary sings"),), secret=True)
    assert (await house.submit(live.session, told, "s1", Stage.DONE)).error == ""
    assert "ok: [secret]" in [one.text for one in house.client.of(e.TextDone)]
    return live


async def test_the_next_gateway_hides_what_the_one_before_was_told(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await confided(house)
    new = await successor(house)
    again = new.sessions.get(live.session)
    await new.say(again, steps({"say": "well, the canary sings!", "deltas": 4}), "r2")
    assert [one.text for one in new.client.of(e.TextDone)][-1] == "well, [secret]!"
    last = await successor(new)  # and the one after that
    again = last.sessions.get(live.session)
    await last.say(again, steps({"say": "the canary sings"}), "r3")
    assert [one.text for one in last.client.of(e.TextDone)][-1] == "[secret]"
    assert last.client.of(e.Notice) == []
    await last.end()


async def test_the_next_agent_of_the_same_gateway_is_kept_the_secret_too(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await confided(house)
    await house.sessions.stop_agent(live.session)
    await house.say(live, "once more", "r2")
    new = await successor(house)
    again = new.sessions.get(live.session)
    await new.say(again, steps({"say": "the canary sings"}), "r3")
    assert [one.text for one in new.client.of(e.TextDone)][-1] == "[secret]"
    await new.end()


async def test_a_gateway_that_does_not_know_a_secret_any_more_says_so(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await confided(house)
    await house.sessions.stop_agent(live.session)  # and with it, what its keeper knew
    new = await successor(house)
    again = new.sessions.get(live.session)
    await new.attach(live.session)
    await new.say(again, "hello again", "r2")
    assert [one.text for one in new.client.of(e.Notice)] == [FORGOTTEN]
    await new.end()


async def test_a_gateway_that_was_told_no_secret_has_nothing_to_say(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, "hello", "r1")
    new = await successor(house)
    again = new.sessions.get(live.session)
    await new.say(again, "more", "r2")
    assert new.client.of(e.Notice) == []
    await new.end()
