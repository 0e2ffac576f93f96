from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model import requests
from flybridge.model.commands import Close
from flybridge.model.deliveries import Stage
from flybridge.model.ids import SessionId
from flybridge.model.requests import Request, Submit
from tests.unit.model.structs import round_trip, values


@pytest.mark.parametrize("struct", get_args(Request))
@given(data=st.data())
def test_every_request_survives_being_written_down(
    struct: type[msgspec.Struct], data: st.DataObject
) -> None:
    # their tags on the wire belong to wire/native, so each is read back as what it is
    round_trip(data.draw(values(struct)), struct)


def test_the_union_holds_every_request_of_the_module() -> None:
    written = [
        thing
        for thing in vars(requests).values()
        if isinstance(thing, type) and thing.__module__ == requests.__name__
    ]
    assert written == list(get_args(Request))


def test_a_submit_waits_until_the_bytes_are_with_the_kernel_but_not_for_ever() -> None:
    submit = Submit(ref="1", session=SessionId("ses_1"), command=Close(), request="r")
    assert submit.until is Stage.WRITTEN
    assert 0 < submit.wait_ms <= 10_000
