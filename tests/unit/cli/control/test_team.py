from __future__ import annotations

import json

import pytest

from tests.harness.terminal_home import Home


@pytest.mark.sample
def test_members_and_rules_are_made_shown_and_taken_back(home: Home) -> None:
    def at_terminal(*words: str) -> str:
        terminal = home.at_terminal("team", *words, columns=200)
        assert terminal.wait_end() == 0, terminal.seen
        return terminal.seen

    assert "nobody may send" in at_terminal("list")
    assert "me in red is uid:" in at_terminal("add", "red", "me")
    at_terminal("add", "red", "robot", "--principal", "token:abc")
    assert "no rule allows anything" in at_terminal("list")
    assert "everybody of red" in at_terminal("allow", "red")
    at_terminal("deny", "red", "robot", "--session", "ses_1", "--what", "stdin")
    shown = at_terminal("list")
    for words in ("token:abc", "allow", "deny", "ses_1", "stdin"):
        assert words in shown
    at_terminal("forget", "red", "robot", "--session", "ses_1", "--what", "stdin")
    at_terminal("remove", "red", "robot")
    found = json.loads(at_terminal("list", "--json"))
    assert [one["name"] for one in found["members"]] == ["me"]
    everybody = {"effect": "allow", "team": "red", "sender": "*", "session": "*", "what": "*"}
    assert found["rules"] == [everybody]


def test_a_program_makes_no_rules(home: Home) -> None:
    for words in (("add", "red", "me"), ("allow", "red"), ("remove", "red", "me"), ("list",)):
        done = home.run("team", *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith("(not_allowed)\n")
