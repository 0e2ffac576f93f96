"""What became of control messages that an interrupt, or the end of a turn, overtook."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path

import pytest

from flybridge.frontends.control.outcome import choice_of, is_claimed_with, verdict_of
from flybridge.model.ids import InputKey
from flybridge.runtime.live_session import LiveSession
from flybridge.store.memory import MemoryJournal
from tests.harness.agent_programs import steps
from tests.harness.control_harness import LEAD, Steered, steered
from tests.harness.waiting import until


class HeldJournal(MemoryJournal):
    """A disk whose sync takes as long as a test wants."""

    held: asyncio.Event | None = None

    def barrier(self) -> Awaitable[None]:
        return super().barrier() if self.held is None else self.held.wait()  # type: ignore[return-value]


@pytest.fixture
async def place(short_tmp: Path) -> AsyncIterator[Steered]:
    async with steered(short_tmp, HeldJournal()) as one:
        yield one


async def until_file(place: Steered, live: LiveSession, path: Path) -> str:
    """A turn that ends by itself once a file is there; which."""
    before = live.memory.state.turns
    await place.ack(place.message(live, content=steps({"say": "begun"}, {"wait_file": str(path)})))
    await until(lambda: live.memory.state.turns > before and live.memory.state.turn)
    return str(live.memory.state.turn)


async def test_c05_an_interrupt_is_kept_back_when_its_turn_ends_before_it_leaves(
    place: Steered, short_tmp: Path
) -> None:
    live = await place.ready()
    file = short_tmp / "over"
    first = await until_file(place, live, file)
    steered = await place.ack(place.message(live, content=steps({"say": "2"}, {"stall": 50})))
    assert steered["detail"] == "steered"
    journal = place.house.journal
    assert isinstance(journal, HeldJournal)
    journal.held = asyncio.Event()
    message = place.message(live, "interrupt", turn_id=first)
    waiting = asyncio.ensure_future(place.ack(message))
    await until(lambda: any(one.kind == "interrupt" for one in live.memory.state.inputs.values()))
    file.touch()
    await until(lambda: live.memory.state.turn not in ("", first))
    second = live.memory.state.turn
    journal.held.set()
    journal.held = None
    ack = await waiting
    assert (ack["result"], ack["error"]["code"]) == ("not_live", "turn_ended")
    again = await place.ack(message)
    assert (again["result"], again["duplicate"]) == ("not_live", True)
    capabilities = await place.ack(place.message(live, "capabilities"))
    assert capabilities["capabilities"]["turn_id"] == second, "the next turn was stopped"
    stop = await place.ack(place.message(live, "interrupt", turn_id=second))
    assert stop["result"] == "ok", "later lines still leave"
    await until(lambda: live.memory.state.turn != second)


async def test_c06_a_message_that_an_interrupt_dropped_is_told_truly(
    place: Steered, short_tmp: Path
) -> None:
    live = await place.ready()
    await until_file(place, live, short_tmp / "never")
    message = place.message(live, content="dropped")
    first = await place.ack(message)
    assert (first["result"], first["stage"]) == ("ok", "written")
    assert (await place.ack(place.message(live, "interrupt")))["result"] == "ok"
    await until(lambda: not live.memory.state.turn and not live.memory.state.inputs)
    again = await place.ack(message)
    assert (again["result"], again["duplicate"], again["outcome"]) == ("ok", True, "cancelled")
    assert again["detail"] == "Cancelled by an interrupt before the agent read it."
    key = InputKey(f"{LEAD.principal}:control/{message['request_id']}")
    assert verdict_of(live, key, duplicate=True).outcome == "cancelled"
    assert choice_of(live, key) == "steered"
    assert not is_claimed_with(live, key, "another")
    assert choice_of(live, InputKey("nobody:control/x")) == ""


async def test_what_was_taken_back_before_it_left_is_rejected(
    place: Steered, short_tmp: Path
) -> None:
    live = await place.ready()
    await until_file(place, live, short_tmp / "never")
    message = place.message(live, content="held", mode="queue")
    assert (await place.ack(message))["detail"] == "queued"
    place.file.save(type(place.file.teams)(members=place.file.teams.members))
    place.control.withdraw()
    await until(lambda: not live.memory.state.held())
    key = InputKey(f"{LEAD.principal}:control/{message['request_id']}")
    found = verdict_of(live, key, duplicate=True)
    assert (found.result, found.outcome) == ("rejected", "cancelled")
