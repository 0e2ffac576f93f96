from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model import deliveries
from flybridge.model.deliveries import (
    Answer,
    Batch,
    Delivery,
    Entry,
    Gauge,
    Preview,
    Reply,
    Shown,
    Stage,
    View,
)
from flybridge.model.ids import SessionId
from tests.unit.model.structs import round_trip, values


@pytest.mark.parametrize("struct", [Entry, Batch, Preview, Gauge, Answer, View, Reply])
@given(data=st.data())
def test_every_delivery_survives_being_written_down(
    struct: type[msgspec.Struct], data: st.DataObject
) -> None:
    # Shown is missing: which of its two kinds it holds is for wire/native to say
    round_trip(data.draw(values(struct)), struct)


def test_the_module_holds_what_this_one_tests() -> None:
    written = {
        thing
        for thing in vars(deliveries).values()
        if isinstance(thing, type) and thing.__module__ == deliveries.__name__
    }
    assert written == {Stage, Entry, Batch, Preview, Gauge, Answer, Shown, View, Reply}
    assert set(get_args(Delivery)) <= written


def test_a_batch_knows_the_number_of_its_last_event() -> None:
    batch = Batch(session=SessionId("ses_1"), epoch=1, first_seq=5, count=3, wire=b"")
    assert batch.last_seq == 7


def test_stages_come_in_the_order_they_are_reached() -> None:
    assert [stage.name for stage in sorted(Stage)] == ["ACCEPTED", "WRITTEN", "OBSERVED", "DONE"]
    assert [stage.value for stage in Stage] == [1, 2, 3, 4]
