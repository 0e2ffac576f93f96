"""Who may, and the questions that change it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from flybridge.errors import InvalidRequestError
from flybridge.frontends.control.refusals import ControlRefused
from flybridge.frontends.control.teams import MAX_MEMBERS, Policy
from flybridge.model.audit import Record
from flybridge.session.authorisation import Caller
from flybridge.store.teams import Member, Rule, TeamFile, Teams

ADMIN = Caller(principal="uid:1", scopes=frozenset({"admin"}))
ROBOT = Caller(principal="token:a", scopes=frozenset({"control"}))


class Place:
    def __init__(self, folder: Path) -> None:
        self.records: list[Record] = []
        self.changes = 0
        self.file = TeamFile(folder / "teams")
        self.policy = Policy(self.file, self.records.append, self._changed)

    def _changed(self) -> None:
        self.changes += 1

    async def ask(self, asked: str, /, **params: Any) -> object:
        question = self.policy.table()[asked]
        assert question.scope == "admin"
        return await question.answer(ADMIN, msgspec.convert(params, question.params))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_member_is_let_in_and_out(place: Place) -> None:
    await place.ask("team.add", team="red", name="me")
    await place.ask("team.add", team="red", name="robot", principal="token:a")
    assert place.policy.teams.members == (
        Member(team="red", name="me", principal="uid:1"),
        Member(team="red", name="robot", principal="token:a"),
    )
    with pytest.raises(InvalidRequestError, match="already"):
        await place.ask("team.add", team="red", name="robot", principal="token:b")
    await place.ask("team.rule", effect="allow", team="red", sender="robot")
    before = place.changes
    await place.ask("team.remove", team="red", name="robot")
    assert place.policy.teams.rules == (), "rules of somebody who is gone would hold for the next"
    assert place.changes == before + 1
    with pytest.raises(InvalidRequestError, match="nobody"):
        await place.ask("team.remove", team="red", name="robot")
    assert await place.ask("team.list") == place.policy.teams
    assert [one.event for one in place.records] == [
        "team.add",
        "team.add",
        "team.allow",
        "team.remove",
    ]


async def test_rules_are_added_replaced_and_forgotten(place: Place) -> None:
    await place.ask("team.add", team="red", name="me")
    await place.ask("team.rule", effect="allow", team="red", sessions=("a", "b"))
    await place.ask("team.rule", effect="deny", team="red", sessions=("b",))
    assert [(one.effect, one.session) for one in place.policy.teams.rules] == [
        ("allow", "a"),
        ("deny", "b"),
    ]
    await place.ask("team.rule", effect="forget", team="red", sessions=("a", "b"))
    assert place.policy.teams.rules == ()
    with pytest.raises(InvalidRequestError, match="nobody"):
        await place.ask("team.rule", effect="allow", team="red", sender="nobody")


async def test_there_is_a_limit(place: Place) -> None:
    many = tuple(Member(team="red", name=f"m{n}", principal="p") for n in range(MAX_MEMBERS))
    place.file.save(Teams(members=many))
    with pytest.raises(InvalidRequestError, match="too many"):
        await place.ask("team.add", team="red", name="one-more")
    place.file.save(Teams(members=many[:1]))
    sessions = tuple(map(str, range(4001)))
    with pytest.raises(InvalidRequestError, match="too many"):
        await place.ask("team.rule", effect="deny", team="red", sessions=sessions)


@pytest.mark.parametrize("bad", ["", "a b", "x" * 257, "é"])
async def test_names_are_plain(place: Place, bad: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        await place.ask("team.add", team=bad, name="me")


@pytest.mark.conforms("S2-10b", "S2-10c", "S2-10d")
def test_nobody_may_do_anything_at_first(place: Place) -> None:
    with pytest.raises(ControlRefused) as refused:
        place.policy.admit(ROBOT, "red", "robot", "stdin")
    assert refused.value.code == "unknown_sender"
    place.file.save(Teams(members=(Member(team="red", name="robot", principal="token:a"),)))
    with pytest.raises(ControlRefused) as refused:
        place.policy.admit(ROBOT, "red", "robot", "stdin")
    assert refused.value.code == "policy_denied"


def test_a_session_that_is_not_allowed_is_not_there(place: Place) -> None:
    robot = Member(team="red", name="robot", principal="token:a")
    only = Rule(effect="allow", team="red", sender="robot", session="ses_1")
    place.file.save(Teams(members=(robot,), rules=(only,)))
    assert place.policy.admit(ROBOT, "red", "robot", "stdin") == robot
    place.policy.check(robot, "stdin", frozenset({"ses_1", "native"}))
    with pytest.raises(ControlRefused) as refused:
        place.policy.check(robot, "stdin", frozenset({"ses_2"}))
    assert refused.value.result == "not_found"
