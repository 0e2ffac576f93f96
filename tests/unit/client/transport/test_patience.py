from __future__ import annotations

import asyncio

import pytest

from flybridge.client.transport.patience import Pauses, patiently
from flybridge.errors import GatewayUnreachableError, NotAuthenticatedError


async def test_pauses_grow_and_end() -> None:
    pauses, error = Pauses(0.1), GatewayUnreachableError("enough")
    await pauses.wait(error)  # 20 ms
    await pauses.wait(error)  # 40 ms
    with pytest.raises(GatewayUnreachableError, match="enough"):
        await pauses.wait(error)  # 80 would be too long


async def test_it_is_tried_again_until_somebody_answers() -> None:
    tried = 0

    async def call() -> str:
        nonlocal tried
        tried += 1
        if tried < 3:
            raise GatewayUnreachableError("not yet")
        return "here"

    assert await patiently(call) == "here"
    assert tried == 3


async def test_what_will_not_change_is_raised_at_once() -> None:
    tried = 0

    async def call() -> None:
        nonlocal tried
        tried += 1
        raise NotAuthenticatedError

    with pytest.raises(NotAuthenticatedError):
        await patiently(call)
    assert tried == 1


async def test_an_attempt_that_never_ends_is_given_up_too() -> None:
    with pytest.raises(GatewayUnreachableError, match="no reply within"):
        await patiently(asyncio.Event().wait, 0.02)
