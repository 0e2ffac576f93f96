from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model import facts
from flybridge.model.events import Event
from flybridge.model.facts import Fact
from tests.unit.model.structs import round_trip, values

OWN = [struct for struct in get_args(Fact) if struct not in get_args(Event)]


@pytest.mark.parametrize("struct", OWN)
@given(data=st.data())
def test_every_fact_survives_being_written_down(
    struct: type[msgspec.Struct], data: st.DataObject
) -> None:
    # facts have no tags, they never leave the gateway; a recording knows which one it holds
    round_trip(data.draw(values(struct)), struct)


def test_the_union_holds_every_fact_of_the_module() -> None:
    written = [
        thing
        for thing in vars(facts).values()
        if isinstance(thing, type) and issubclass(thing, facts._Fact) and thing is not facts._Fact
    ]
    assert list(dict.fromkeys(written)) == OWN  # one has a former name, too


def test_what_is_no_fact_of_its_own_is_an_event() -> None:
    assert set(get_args(Fact)) - set(OWN) <= set(get_args(Event))


@pytest.mark.parametrize("struct", get_args(Fact))
def test_every_fact_is_frozen(struct: type[msgspec.Struct]) -> None:
    assert struct.__struct_config__.frozen
