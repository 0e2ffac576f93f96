from __future__ import annotations

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.model.content import Content
from tests.unit.model.structs import round_trip, tags, values


@pytest.mark.parametrize("struct", get_args(Content), ids=tags(Content))
@given(data=st.data())
def test_every_content_survives_the_wire(struct: type[msgspec.Struct], data: st.DataObject) -> None:
    round_trip(data.draw(values(struct)), Content)


def test_tags_are_the_ones_the_world_knows() -> None:
    assert tags(Content) == ["text", "image", "document"]
