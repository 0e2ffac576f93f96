from __future__ import annotations

from typing import Any

import msgspec

from flybridge.model import commands as c
from flybridge.session.authorisation import Caller
from tests.harness.runtime_harness import EVERYTHING, House, ListClient


async def changes(
    house: House, after: int, client: ListClient | None = None, wait_ms: int = 0
) -> Any:
    reply = await house.ask("changes", client, after=after, wait_ms=wait_ms)
    assert reply.error == ""
    return msgspec.json.decode(reply.value)  # type: ignore[arg-type]


async def test_the_first_look_shows_every_session(house: House) -> None:
    first = await house.open(request="first")
    second = await house.open(request="second")
    told = await changes(house, 0)
    assert told["whole"]
    assert {one["session"] for one in told["sessions"]} == {first.session, second.session}


async def test_the_next_look_shows_what_changed_since(house: House) -> None:
    first = await house.open(request="first")
    await house.open(request="second")
    seen = (await changes(house, 0))["at"]
    assert not (await changes(house, seen))["whole"]
    await house.submit(first.session, c.Rename(title="renamed"), "r1")
    told = await changes(house, seen, wait_ms=10_000)
    assert not told["whole"]
    titles = {one["session"]: one["title"] for one in told["sessions"]}
    assert titles[first.session] == "renamed"


async def test_nobody_hears_of_a_session_that_is_not_theirs(house: House) -> None:
    """Abuse case 38."""
    mine = await house.open(request="mine")
    await house.open(request="other")
    guest = ListClient(
        Caller(principal="t", scopes=EVERYTHING.scopes, sessions=frozenset({mine.session}))
    )
    told = await changes(house, 0, guest)
    assert [one["session"] for one in told["sessions"]] == [mine.session]
    await house.open(request="third")
    told = await changes(house, told["at"], guest, wait_ms=10_000)
    assert [one["session"] for one in told["sessions"]] in ([], [mine.session])
    assert told["gone"] == []
