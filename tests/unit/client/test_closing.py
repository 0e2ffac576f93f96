from __future__ import annotations

import pytest

from flybridge.client.closing import Closing


class Thing(Closing):
    def __init__(self) -> None:
        self.closed: list[str] = []

    async def close(self) -> None:
        self.closed.append("once")


async def test_leaving_the_block_closes_and_hides_no_error() -> None:
    thing = Thing()
    async with thing as entered:
        assert entered is thing
        assert not thing.closed
    assert len(thing.closed) == 1
    with pytest.raises(ValueError, match="mine"):
        async with thing:
            raise ValueError("mine")
    assert len(thing.closed) == 2


async def test_what_cannot_be_closed_is_a_mistake_of_ours() -> None:
    with pytest.raises(NotImplementedError):
        await Closing().close()
