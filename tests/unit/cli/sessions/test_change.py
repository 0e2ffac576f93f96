from __future__ import annotations

import json

import pytest

from tests.harness.terminal_home import Home
from tests.unit.cli.sessions.test_open import at_terminal


def opened(home: Home) -> str:
    return home.run("sessions", "new", "--agent", "demo").stdout.strip()


def test_a_session_gets_another_title(home: Home) -> None:
    session = opened(home)
    done = home.run("sessions", "rename", session[4:9], "A", "new", "title")
    assert done.stdout == f"{session[:12]}: is called A new title\n"
    assert home.sessions()[0]["title"] == "A new title"
    home.run("sessions", "rename", session, "")
    assert home.sessions()[0]["title"] == ""


def test_archived_sessions_are_out_of_the_way_until_they_are_not(home: Home) -> None:
    one, two = opened(home), opened(home)
    done = home.run("sessions", "archive", one, two[:9], one, "--json")
    assert [json.loads(line)["session"] for line in done.stdout.splitlines()] == [one, two]
    assert home.run("sessions", "list").stdout == "no sessions\n"
    assert home.run("sessions", "unarchive", one).returncode == 0
    assert one[:12] in home.run("sessions", "list").stdout


def test_with_a_wrong_one_among_them_nothing_is_changed(home: Home) -> None:
    session = opened(home)
    done = home.run("sessions", "delete", "--yes", session, "nope")
    assert done.returncode == 1
    assert done.stderr == "flybridge: no session 'nope' (session_not_found)\n"
    assert home.session() == session


@pytest.mark.sample
def test_delete_asks_a_person_and_refuses_a_program(home: Home) -> None:
    session = opened(home)
    assert "say --yes" in home.run("sessions", "delete", session).stderr
    asked = at_terminal(home, "delete", session)
    asked.wait_for(f"delete {session[:12]} (no title, 0 turns", "[y/N]")
    asked.say("n")
    assert asked.wait_end() == 0
    assert home.session() == session
    again = at_terminal(home, "delete", session)
    again.wait_for("[y/N]")
    again.say("y")
    assert again.wait_end() == 0
    assert "deleted, with everything that was said in it" in again.seen
    assert home.sessions() == []


def test_a_program_that_is_sure_is_not_asked(home: Home) -> None:
    session = opened(home)
    assert home.run("sessions", "delete", session, "--yes").returncode == 0
    assert home.sessions() == []
