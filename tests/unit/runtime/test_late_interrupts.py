from __future__ import annotations

import asyncio
from pathlib import Path

from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.runtime.late_interrupts import withdraw_late
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import until
from tests.unit.runtime.lifecycle.test_adoption import stuck_behind_a_barrier


async def test_c05_only_an_interrupt_whose_turn_is_over_is_kept_back(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    file = short_tmp / "over"
    await house.say(live, steps({"say": "x"}, {"wait_file": str(file)}), "r1", Stage.OBSERVED)
    await until(lambda: live.memory.state.turn)
    await stuck_behind_a_barrier(house)
    named = c.Interrupt(turn=live.memory.state.turn)
    asked = asyncio.ensure_future(house.submit(live.session, named, "i1", wait_ms=30_000))
    await until(lambda: live.outbox_numbers())
    withdraw_late(live, live._outbox)
    assert [one.kind for one in live.memory.state.inputs.values()].count("interrupt") == 1
    file.touch()
    reply = await asked
    assert reply.error == "cancelled"
    [gone] = [one for one in house.client.of(e.InputOutcome) if one.key.endswith(":i1")]
    assert (gone.outcome, gone.reason) == ("cancelled", "turn_ended")
    assert house.client.of(e.TurnEnded)[-1].reason == "done"
    await house.end()
