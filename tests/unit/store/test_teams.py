from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.store.teams import Member, Rule, TeamFile, Teams

LEAD = Member(team="red", name="lead", principal="uid:1")


def test_what_is_saved_is_there_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "teams"
    assert TeamFile(path).teams == Teams()
    made = Teams(members=(LEAD,), rules=(Rule(effect="deny", team="red", what="stdin"),))
    TeamFile(path).save(made)
    assert TeamFile(path).teams == made
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_member_is_a_name_and_a_principal() -> None:
    teams = Teams(members=(LEAD,))
    assert teams.member("red", "lead", "uid:1") == LEAD
    for wrong in (("blue", "lead", "uid:1"), ("red", "led", "uid:1"), ("red", "lead", "uid:2")):
        assert teams.member(*wrong) is None


def test_rules_are_found_by_whom_and_what_they_are_about() -> None:
    every = Rule(effect="allow", team="red")
    mine = Rule(effect="deny", team="red", sender="lead", what="interrupt")
    others = Rule(effect="allow", team="red", sender="other")
    elsewhere = Rule(effect="allow", team="blue")
    teams = Teams(rules=(every, mine, others, elsewhere))
    assert teams.applying(LEAD, "interrupt") == [every, mine]
    assert teams.applying(LEAD, "stdin") == [every]


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"version":2}', b'{"members":[{}]}'])
def test_a_file_that_is_not_ours_is_not_taken_for_an_empty_one(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "teams"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(StorageCorruptError):
        TeamFile(path)


@pytest.mark.abuse(23)
def test_abuse_23_a_file_that_others_could_change_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "teams"
    path.write_bytes(b"{}")
    path.chmod(0o660)
    with pytest.raises(StorageError, match="chmod 600"):
        TeamFile(path)
