from __future__ import annotations

import base64
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from flybridge.errors import FlybridgeError, KeeperError, StorageError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.content import Text
from flybridge.model.deliveries import Stage
from flybridge.runtime.live_session import BIG_LINE
from flybridge.runtime.services import Limits
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


@pytest.fixture
async def house(short_tmp: Path) -> AsyncIterator[House]:
    house = House(short_tmp, limits=Limits(line_bytes=8 << 20))
    yield house
    await house.end()


async def test_streamed_text_is_saved_with_its_place_while_nothing_else_happens(
    house: House,
) -> None:
    live = await house.open()
    gate = house.folder / "gate"
    text = steps({"say": "half a word", "deltas": 5, "hold": str(gate)})
    await house.say(live, text, "r1", Stage.OBSERVED)

    def saved() -> list[str]:
        loaded = house.journal.load(live.session)
        return [one.text for one in loaded.drafts.values()] if loaded else []

    await until(lambda: saved() == ["half a word"])
    gate.touch()
    assert (await house.say(live, text, "r1")).stage is Stage.DONE
    assert saved() == []


async def test_a_flood_arrives_whole_and_in_order(house: House) -> None:
    live = await house.open()
    assert (await house.say(live, steps({"flood": 3_000_000, "line": 200}), "r1")).error == ""
    done = house.client.of(e.TextDone)[-1]
    reply = await house.ask("blob", digest=done.blob, start=0, size=1 << 20)
    got = msgspec.json.decode(reply.value)  # type: ignore[arg-type]
    assert got["size"] >= 2_900_000
    assert base64.b64decode(got["data"]) == house.services.blobs.get(done.blob)[: 1 << 20]
    assert (await house.ask("blob", digest="0" * 64)).error == "invalid_request"
    assert house.client.seqs() == list(range(1, len(house.client.events) + 1))


async def test_a_huge_line_is_taken_in_beside_the_loop_and_commands_wait_for_it(
    house: House,
) -> None:
    live = await house.open()
    size = BIG_LINE * 2
    await house.say(live, steps({"big_line": size}, {"say": "after"}), "r1", Stage.OBSERVED)
    reply = await house.say(live, "next", "r2")
    assert reply.stage is Stage.DONE
    assert [one.outcome for one in house.client.of(e.InputOutcome)] == ["done", "done"]
    assert house.client.of(e.TextDone)[-1].text == "ok: next"
    assert [one.text for one in house.client.of(e.TextDone)].count("after") == 1


async def test_an_endless_line_costs_the_agent_and_not_the_session(house: House) -> None:
    live = await house.open()
    await house.say(live, steps({"big_line": 9 << 20}, {"stall": 60}), "r1", Stage.OBSERVED)
    exited = await house.saw(e.AgentExited)
    assert exited.status == -9
    assert house.client.of(e.Error)[-1].code == "line_too_long"
    assert (await house.say(live, "still here", "r2")).stage is Stage.DONE


async def test_a_message_with_a_deadline_expires_while_it_waits(house: House) -> None:
    live = await house.open()
    await house.say(live, steps({"stall": 60}), "r1", Stage.OBSERVED)
    soon = time.time_ns() // 1_000_000 + 150
    command = c.SendInput(content=(Text("late"),), mode="queue", deadline_ms=soon)
    reply = await house.submit(live.session, command, "q1", Stage.WRITTEN)
    assert reply.error == "expired"
    await house.submit(live.session, c.Interrupt(), "i1", Stage.DONE)
    await house.saw(e.TurnEnded)
    assert len(recorder.executed(str(house.record))) == 1


async def test_a_session_that_is_down_refuses_by_name_and_shows_the_last_good_view(
    house: House,
) -> None:
    live = await house.open()
    await house.say(live, "hi", "r1")
    live.on_down = lambda: None  # nobody revives it in this test
    before = live.showing.view()
    live.go_down(KeeperError("gone"))
    live.go_down(StorageError("a second reason changes nothing"))
    with pytest.raises(KeeperError):
        live.submit(c.Interrupt(), principal="me", request="x")
    assert live.showing.view() == before
    assert live.showing.texts() == []
    await house.attach(live.session)
    reply = await house.say(live, "hi", "r2")
    assert reply.error == "keeper"
    live.up()


async def test_a_session_nobody_stored_cannot_come_back(house: House) -> None:
    live = await house.open()
    await until(lambda: live.link)
    house.journal.delete(live.session)
    with pytest.raises(FlybridgeError):
        live.come_back()
    row = live.memory.incarnation
    assert row is not None
    assert live.link is not None
    live.on_down = lambda: None
    live.go_down(KeeperError("forgotten"))
    link = live.quiet()
    assert link is not None
    await link.closed()
    os.kill(row.keeper_pid, signal.SIGKILL)
