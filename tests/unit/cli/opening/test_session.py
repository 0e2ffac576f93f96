from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from flybridge.cli.opening.session import Wanted, wanted_from
from tests.harness.terminal_home import FAST, Home

DEMO = ("chat", "--agent", "demo", "--model", FAST)


def wanted(**flags: Any) -> Wanted:
    return Wanted(cwd=Path(), state=None, **flags)


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"session": "a", "last": True}, "--session or --last, not both"),
        ({"session": "a", "agent": "demo"}, "--agent is for a new session"),
        ({"last": True, "resume": "x"}, "--resume is for a new session"),
        ({"last": True, "continue_latest": True}, "--continue is for a new session"),
        ({"session": "a", "from_pr": "7"}, "--from-pr is for a new session"),
        ({"session": "a", "options": {"effort": "low", "fast": True}}, "--effort, --fast: only"),
    ],
)
def test_what_contradicts_itself_is_refused_here(flags: dict[str, Any], why: str) -> None:
    with pytest.raises(click.UsageError, match=why):
        wanted(**flags)


def test_options_go_with_a_fork_of_a_session() -> None:
    assert wanted(session="a", fork=True, options={"fast": True}).exists


def test_flags_that_a_command_does_not_have_are_left_out() -> None:
    flags = {"cwd": Path(), "state": None, "title": None, "effort": "low"}
    one = wanted_from(flags, {"effort": "low"})
    assert (one.title, one.options, one.exists) == ("", {"effort": "low"}, False)


def test_coming_back_names_the_state_directory() -> None:
    one = Wanted(cwd=Path(), state=Path("/a b"))
    assert one.come_back("ses_0123456789") == "flybridge chat --session ses_01234567 --state '/a b'"


NONSENSE = {
    ("--effort", "silly"): "this version has no effort 'silly' (agent_start)",
    ("--max-turns", "-1"): "max_turns: must be at least 0 and at most 1000000000 (invalid_option)",
    ("--fork",): "(invalid_request)",
    ("--continue", "--resume", "abc"): "exclude each other (agent_start)",
    ("--json-schema", "[]"): "json_schema: expected a JSON object (invalid_option)",
}


def test_what_makes_no_sense_to_the_gateway_is_wrong_usage(home: Home) -> None:
    for flags, said in NONSENSE.items():
        done = home.run(*DEMO, *flags, stdin="x")
        assert done.returncode == 2
        assert said in done.stderr
        assert "Traceback" not in done.stderr
    assert home.sessions() == []


def test_options_reach_the_session_they_were_given_for(home: Home) -> None:
    done = home.run(*DEMO, "--effort", "high", "--disallowed-tools", "Bash", stdin="think")
    assert done.returncode == 0, done.stderr
    opened = home.events(home.session())[0]["event"]
    assert opened["options"] == {"effort": "high", "disallowed_tools": ["Bash"]}


@pytest.mark.sample
def test_a_program_cannot_grant_what_a_person_can(home: Home) -> None:
    refused = home.run(*DEMO, "--skip-permissions", stdin="think")
    assert refused.returncode == 1
    assert (
        "The option skip_permissions needs an interactive terminal. (not_allowed)" in refused.stderr
    )
    chat = home.demo("--skip-permissions")
    chat.say("run echo free")
    chat.wait_for("Done. It said")


def test_a_session_is_forked_with_its_options_and_without_its_mode(home: Home) -> None:
    home.run(*DEMO, "--effort", "high", "--title", "first", stdin="think")
    done = home.run("chat", "--last", "--fork", "--max-turns", "7", stdin="hello")
    assert "I continue session" in done.stdout, done.stderr
    old, new = (home.events(str(row["session"]))[0]["event"] for row in home.sessions())
    assert new["forked"]
    assert new["title"] == "first (fork)"
    assert new["model"] == old["model"] == FAST
    assert new["options"] == {"effort": "high", "max_turns": 7}


def test_there_is_nothing_to_fork_before_something_was_said(home: Home) -> None:
    home.run("sessions", "new", "--agent", "demo")
    done = home.run("chat", "--last", "--fork", stdin="hello")
    assert done.returncode == 1
    assert "nothing was said" in done.stderr
    home.run("sessions", "kill", home.session(), "--delete")
    home.run(*DEMO, "--no-persistence", stdin="think")
    assert "keeps no record" in home.run("chat", "--last", "--fork", stdin="x").stderr
