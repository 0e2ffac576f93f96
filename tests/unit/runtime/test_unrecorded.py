from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import NotSupportedError
from flybridge.model import commands as c
from flybridge.model import events as e
from flybridge.model.deliveries import Stage
from flybridge.model.ids import TurnId
from flybridge.runtime.unrecorded import pass_on
from flybridge.testing import recorder
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House
from tests.harness.waiting import until


async def test_without_an_agent_there_is_nobody_to_tell(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, "hi", "r1")
    await house.submit(live.session, c.Interrupt(hard=True), "k", Stage.DONE)
    await house.saw(e.AgentExited)
    with pytest.raises(NotSupportedError):
        pass_on(live, c.Interrupt(), principal="me", request="i")
    await house.end()


async def test_an_interrupt_passes_for_the_turn_that_runs_only(short_tmp: Path) -> None:
    house = House(short_tmp)
    live = await house.open()
    await house.say(live, steps({"stall": 60}), "r1", Stage.OBSERVED)
    with pytest.raises(NotSupportedError):
        pass_on(live, c.Interrupt(turn=TurnId("trn_9")), principal="me", request="i")
    pass_on(live, c.Interrupt(turn=TurnId("trn_1")), principal="me", request="i")
    ended = await house.saw(e.TurnEnded)
    assert ended.turn == "trn_1"
    record = str(house.record)
    await until(lambda: sum(b"interrupt" in one for one in recorder.lines(record)) == 1)
    await house.end()
