from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model.audit import Record
from tests.unit.model.structs import round_trip, values


@given(data=st.data())
def test_a_record_survives_the_file(data: st.DataObject) -> None:
    round_trip(data.draw(values(Record)), Record)


def test_a_record_is_as_short_as_what_it_tells() -> None:
    told = msgspec.json.encode(Record(event="login", outcome="done"))
    assert told == b'{"event":"login","outcome":"done"}'
