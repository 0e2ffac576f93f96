from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.auth.authority import Authority
from flybridge.auth.methods import Keys
from flybridge.model import events as e
from flybridge.model.audit import Record
from flybridge.model.deliveries import Stage
from flybridge.runtime.dispatcher import Desk
from flybridge.session.authorisation import Caller
from flybridge.store.credentials import CredentialFile
from tests.harness.agent_programs import steps
from tests.harness.runtime_harness import House, ListClient

WHERE = {"door": "http", "source": "1.2.3.4"}


class Office:
    """A desk that answers questions about keys."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.noted: list[Record] = []
        self.address = "http://localhost:8420"
        file = CredentialFile(house.folder / "tokens")
        self.authority = Authority(file, owner="uid:1", cookie="c", now_ms=lambda: 5)
        keys = Keys(
            self.authority, self.noted.append, lambda: self.address, house.sessions.withdraw
        )
        parts = house.sessions, house.services.hub, house.journal, house.services.blobs
        house.desk = Desk(*parts, keys.table(), self.noted.append)

    async def ask(self, name: str, client: ListClient | None = None, /, **params: Any) -> Any:
        reply = await self.house.ask(name, client, **params)
        return reply.error or msgspec.json.decode(reply.value)  # type: ignore[arg-type]


@pytest.fixture
async def office(short_tmp: Path) -> AsyncIterator[Office]:
    house = House(short_tmp)
    yield Office(house)
    await house.end()


async def test_a_token_is_made_shown_and_taken_back(office: Office) -> None:
    token = (await office.ask("token.create", name="ci", scopes=["view"]))["token"]
    assert office.authority.by_token(token.encode(), **WHERE).scopes == {"view"}
    listed = await office.ask("token.list")
    assert [one["name"] for one in listed["tokens"]] == ["ci"]
    assert token.rpartition(".")[2] not in str(listed)
    assert (await office.ask("token.revoke", name="ci"))["name"] == "ci"
    assert await office.ask("token.revoke", name="ci") == "invalid_request"
    assert [(one.event, one.detail) for one in office.noted] == [
        ("token.create", "view"),
        ("token.revoke", "ci"),
    ]


async def test_a_link_logs_in_once_and_its_ticket_is_sent_to_nobody(office: Office) -> None:
    link = (await office.ask("login.link", scopes=["view"], name="Ada"))["link"]
    page, _, ticket = link.partition("#")
    assert page == "http://localhost:8420/login"
    office.authority.login(ticket, **WHERE)
    office.address = ""
    assert await office.ask("login.link") == "busy"


@pytest.mark.parametrize(
    ("use", "forwarding", "person_only"),
    [("browser", False, True), ("print", False, False), ("remote", True, False)],
)
async def test_a03_a_link_is_made_for_its_use(
    office: Office, use: str, forwarding: bool, person_only: bool
) -> None:
    link = (await office.ask("login.link", use=use))["link"]
    ticket = office.authority.find_ticket(link.partition("#")[2])
    assert ticket is not None
    assert (ticket.forwarding, ticket.person_only) == (forwarding, person_only)
    assert await office.ask("login.link", use="anything") == "invalid_request"


async def test_what_cannot_be_is_refused(office: Office) -> None:
    for params in (
        {"name": "x", "scopes": ["approve"]},
        {"name": "x", "scopes": ["everything"]},
        {"name": "x", "days": -1},
        {"name": "x", "days": 1e9},
        {"name": "x", "sessions": ["s"] * 101},
        {"name": ""},
        {},
    ):
        assert await office.ask("token.create", **params) == "invalid_request"
    assert await office.ask("login.link", name="a\nb") == "invalid_request"
    assert await office.ask("login.link", scopes=[]) == "invalid_request"
    assert await office.ask("password.set", password="short") == "invalid_request"
    assert await office.ask("password.set", password="long enough") == {}
    assert (await office.ask("token.list"))["password"] is True


async def test_only_an_admin_asks_for_keys(office: Office) -> None:
    scopes: Any = frozenset({"view", "input", "interrupt", "approve", "spawn"})
    somebody = ListClient(Caller(principal="you", scopes=scopes))
    for name in ("token.create", "token.list", "token.revoke", "login.link", "password.set"):
        asked = await office.ask(name, somebody, name="x", password="long enough")
        assert asked == "not_allowed"
    assert {one.outcome for one in office.noted} == {"refused"}


async def test_abuse_39_what_waits_is_not_sent_for_somebody_who_may_not_come_in_any_more(
    office: Office,
) -> None:
    house = office.house
    live = await house.open()
    await house.say(live, steps({"stall": 60}), "r0", Stage.OBSERVED)
    token = (await office.ask("token.create", name="ci"))["token"]
    theirs = ListClient(office.authority.by_token(token.encode(), **WHERE))
    for client, request in ((theirs, "theirs"), (house.client, "mine")):
        await house.say(live, "later", request, Stage.ACCEPTED, mode="queue", client=client)
    await office.ask("token.revoke", name="ci")
    outcomes = {one.key: one.outcome for one in house.client.of(e.InputOutcome)}
    assert outcomes == {f"{theirs.caller.principal}:theirs": "cancelled"}
    assert live.memory.state.held() == ["me:mine"]
