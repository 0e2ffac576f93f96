from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model.capabilities import Capabilities, Launch, LinkEnd, OpenSpec
from tests.unit.model.structs import round_trip, values


@pytest.mark.parametrize("struct", [OpenSpec, Launch, LinkEnd])
@given(data=st.data())
def test_each_survives_being_written_down(
    struct: type[msgspec.Struct], data: st.DataObject
) -> None:
    round_trip(data.draw(values(struct)), struct)


@given(value=values(Capabilities))
def test_capabilities_survive_though_a_set_has_no_order(value: Capabilities) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=Capabilities) == value


def test_an_agent_can_do_nothing_that_is_not_named() -> None:
    nothing = Capabilities(agent="new")
    assert (nothing.echoes_input, nothing.resumes, nothing.commands) == (False, False, frozenset())
