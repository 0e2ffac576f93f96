"""Ids of frames say where they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.frontends.runs.ids import Place, message_id, place_of

places = st.builds(Place, st.integers(0, 2**39), st.integers(0, 2**16 - 1))


@pytest.mark.conforms("S4-6.3")
@given(st.lists(places, unique=True))
def test_ids_are_unique_and_lead_back(found: list[Place]) -> None:
    ids = [message_id("run_1", one) for one in found]
    assert len(set(ids)) == len(ids)
    assert [place_of("run_1", one) for one in ids] == found


def test_an_id_belongs_to_one_run() -> None:
    assert place_of("run_2", message_id("run_1", Place(1, 0))) is None
    assert place_of("run_1", "msg_1") is None


def test_what_is_not_in_the_log_is_told_apart_and_leads_back_too() -> None:
    one = message_id("run_1", Place(7, 0x8000), "0123abcd")
    assert one != message_id("run_1", Place(7, 0x8000), "0123abce")
    assert place_of("run_1", one) == Place(7, 0x8000)
