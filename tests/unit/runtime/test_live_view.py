from __future__ import annotations

import msgspec

from flybridge.model.deliveries import Gauge, Preview
from flybridge.model.facts import TurnBegan, TurnOver
from flybridge.model.ids import ItemId, SessionId
from flybridge.runtime.live_view import Showing
from flybridge.runtime.unit_of_work import Step, new_memory
from flybridge.store.memory import MemoryBlobs
from tests.unit.runtime.test_unit_of_work import row

SES = SessionId("ses_1")


def test_a_frozen_view_stays_as_it_was() -> None:
    memory = new_memory(SES, 1)
    showing = Showing(memory, 1)
    memory.drafts.apply(Preview(ItemId("i"), 0, 1, "x"))
    assert len(showing.texts()) == 1
    showing.freeze()
    memory.state.title = "never committed"
    assert showing.texts() == []
    assert showing.summary(9).title == ""
    assert b"never" not in bytes(showing.view().state)


def test_the_latest_gauges_are_part_of_what_is_shown() -> None:
    memory = new_memory(SES, 1)
    showing = Showing(memory, 1)
    step = Step(memory, 2, MemoryBlobs(), row)
    step.gauges["usage"] = Gauge("usage", msgspec.Raw(b"1"))
    step.previews["i"] = [Preview(ItemId("i"), 0, 1, "x")]
    assert len(showing.of_step(step)) == 2
    showing.heard(2)
    assert showing.summary(3).gauges == {"usage": msgspec.Raw(b"1")}
    assert len(showing.texts()) == 1


def test_the_end_of_a_turn_has_the_last_word_on_its_gauges() -> None:
    memory = new_memory(SES, 1)
    showing = Showing(memory, 1)
    step = Step(memory, 2, MemoryBlobs(), row)
    step.gauges["context"] = Gauge("context", msgspec.Raw(b'{"tokens":10,"window":0}'))
    step.gauges["seconds"] = Gauge("seconds", msgspec.Raw(b"3"))
    showing.of_step(step)
    told = msgspec.Raw(b'{"tokens":10,"window":200000}')
    step = Step(memory, 3, MemoryBlobs(), row)
    step.fact(TurnBegan())
    step.fact(TurnOver(gauges={"context": told}))
    showing.of_step(step)
    showing.refresh(memory, 3)
    assert showing.summary(4).gauges == {"context": told, "seconds": msgspec.Raw(b"3")}
