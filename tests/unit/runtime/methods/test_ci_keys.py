"""Making, listing and revoking CI keys, and opening sessions with them, at the desk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.auth.peer import ALL, OPEN, TALK
from flybridge.model.audit import Record
from flybridge.model.ci_key import CiKey
from flybridge.model.deliveries import Reply
from flybridge.runtime.dispatcher import Desk
from flybridge.runtime.methods import ci_keys as ci_key_questions
from flybridge.session.authorisation import Caller
from tests.harness.runtime_harness import House, ListClient

PERSON = Caller(principal="me", scopes=ALL, process="7:1:boot")
JOB = Caller(principal="me", scopes=OPEN, process="8:1:boot")
AGENT = Caller(principal="agent:me", scopes=TALK, process="9:1:boot", of_agent=True)
GUEST = Caller(principal="guest:g", scopes=OPEN, door="http")


class MemoryKeys:
    def __init__(self) -> None:
        self._keys: tuple[CiKey, ...] = ()

    def all(self) -> tuple[CiKey, ...]:
        return self._keys

    def replace(self, keys: tuple[CiKey, ...]) -> None:
        self._keys = keys


class Ci:
    """A house whose desk knows CI keys."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.noted: list[Record] = []
        house.services.ci_keys = MemoryKeys()
        house.services.default_agent = "recorder"
        parts = house.sessions, house.services.hub, house.journal, house.services.blobs
        house.desk = Desk(*parts, {}, self.noted.append)

    async def make(self, who: Caller = PERSON, /, **more: Any) -> Reply:
        params = {"name": "nightly", "modes": ["acceptEdits"], **more}
        return await self.ask("ci_key.create", who, **params)

    async def ask(self, name: str, who: Caller, /, **params: Any) -> Reply:
        return await self.house.ask(name, ListClient(who), **params)

    async def key(self, **more: Any) -> str:
        made = await self.make(**more)
        assert not made.error, made
        return str(value_of(made)["key"])

    async def open(self, who: Caller, **params: Any) -> str:
        asked = {"agent": "recorder", "cwd": str(self.house.folder), "request": "r", **params}
        return (await self.ask("open", who, **asked)).error


def value_of(reply: Reply) -> dict[str, Any]:
    assert isinstance(reply.value, msgspec.Raw)
    return msgspec.json.decode(reply.value, type=dict[str, Any])


@pytest.fixture
async def ci(short_tmp: Path) -> AsyncIterator[Ci]:
    house = House(short_tmp)
    yield Ci(house)
    await house.end()


async def test_c03_only_a_key_opens_a_mode_that_asks_less(ci: Ci) -> None:
    key = await ci.key()
    assert await ci.open(JOB, mode="acceptEdits") == "not_allowed"
    assert await ci.open(JOB, mode="acceptEdits", ci_key=f"{key}x") == "not_allowed"
    assert await ci.open(JOB, mode="somethingNew", ci_key=key) == "not_allowed"
    assert await ci.open(JOB, mode="acceptEdits", ci_key=key) == ""
    (used,) = [record for record in ci.noted if record.event == "ci_key.use"]
    assert (used.detail, used.principal) == ("acceptEdits", "me")
    assert key.rpartition(".")[2] not in str(ci.noted)


@pytest.mark.parametrize(
    ("agent", "mode", "needs_key"),
    [
        ("recorder", "acceptEdits", True),
        ("courier", "free", True),
        ("recorder", "full-access", True),  # of no agent here
        ("recorder", "plan", False),
        ("courier", "ask", False),
        ("recorder", "ask", True),  # unknown to this kind
        ("recorder", "bypassPermissions", True),
        ("courier", "bypassPermissions", False),  # the same name grants nothing there
    ],
)
async def test_c03_a_key_is_made_for_modes_that_grant_something_in_an_agent(
    ci: Ci, agent: str, mode: str, needs_key: bool
) -> None:
    made = await ci.make(modes=[mode], agent=agent)
    assert made.error == ("" if needs_key else "invalid_request")


async def test_c03_a_key_opens_no_mode_of_the_same_name_in_another_kind_of_agent(ci: Ci) -> None:
    key = await ci.key(modes=["free"])  # for the kind of the default agent
    assert await ci.open(JOB, agent="courier", mode="free", ci_key=key) == "not_allowed"
    key = await ci.key(modes=["free"], name="deliveries", agent="courier")
    assert await ci.open(JOB, agent="courier", mode="free", ci_key=key) == ""
    listed = value_of(await ci.ask("ci_key.list", PERSON))["keys"]
    assert [shown["kinds"] for shown in listed] == [["claude"], ["courier"]]


async def test_a_key_for_an_agent_that_is_not_configured_is_not_made(ci: Ci) -> None:
    assert (await ci.make(agent="nobody")).error == "agent_not_found"


@pytest.mark.parametrize("who", [AGENT, GUEST])
async def test_c03_an_agent_or_a_guest_gains_nothing_by_a_key(ci: Ci, who: Caller) -> None:
    key = await ci.key()
    assert await ci.open(who, mode="acceptEdits", ci_key=key) == "not_allowed"
    if who is AGENT:
        live = await ci.house.open(request="mine")
        assert await ci.open(who, request="x", ci_key=key) == "not_allowed"
        assert live.memory.state.mode == ""


async def test_c03_a_key_grants_a_mode_and_nothing_else(ci: Ci) -> None:
    key = await ci.key()
    for options in ({"allowed_tools": ["Bash"]}, {"skip_permissions": True}, {"settings": "{}"}):
        for mode in ("acceptEdits", "plan", ""):
            assert await ci.open(JOB, mode=mode, options=options, ci_key=key) == "not_allowed"
    assert (await ci.ask("token.create", JOB, name="x")).error != ""
    assert (await ci.make(JOB)).error == "not_allowed"


async def test_c03_only_a_person_makes_lists_and_revokes_keys(ci: Ci) -> None:
    key = await ci.key()
    for who in (JOB, AGENT, GUEST):
        assert (await ci.make(who, name="mine")).error == "not_allowed"
        assert (await ci.ask("ci_key.list", who)).error == "not_allowed"
        assert (await ci.ask("ci_key.revoke", who, name="nightly")).error == "not_allowed"
    (shown,) = value_of(await ci.ask("ci_key.list", PERSON))["keys"]
    assert (shown["name"], shown["modes"]) == ("nightly", ["acceptEdits"])
    assert "digest" not in shown
    assert (await ci.ask("ci_key.revoke", PERSON, name=shown["id"])).error == ""
    assert await ci.open(JOB, mode="acceptEdits", ci_key=key) == "not_allowed"
    assert (await ci.ask("ci_key.revoke", PERSON, name="nightly")).error == "invalid_request"


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "a\x1bb"},
        {"name": "n" * 101},
        {"modes": []},
        {"modes": ["a b"]},
        {"modes": ["plan"]},
        {"days": -1},
        {"days": 1e9},
    ],
)
async def test_a_key_that_makes_no_sense_is_not_made(ci: Ci, bad: dict[str, Any]) -> None:
    assert (await ci.make(**bad)).error == "invalid_request"


async def test_names_are_unique_and_there_is_an_end_to_keys(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ci_key_questions, "MAX_KEYS", 2)
    await ci.key()
    assert (await ci.make()).error == "invalid_request"
    await ci.key(name="second")
    assert (await ci.make(name="third")).error == "invalid_request"
