from __future__ import annotations

import json

import pytest

from tests.harness.terminal_home import Home


@pytest.mark.sample
def test_a_token_is_made_listed_and_taken_back(home: Home) -> None:
    terminal = home.at_terminal("token", "create", "ci", "--scope", "view", "--days", "1")
    assert terminal.wait_end() == 0
    secret = terminal.seen.strip()
    assert secret.startswith("fbt_")
    listing = home.at_terminal("token", "list")
    assert listing.wait_end() == 0
    assert "ci" in listing.seen
    assert secret not in listing.seen
    as_json = home.at_terminal("token", "list", "--json", columns=1000)
    assert as_json.wait_end() == 0
    (one,) = json.loads(as_json.seen)["tokens"]
    assert one["scopes"] == ["view"]
    gone = home.at_terminal("token", "revoke", "ci")
    assert gone.wait_end() == 0
    assert f"revoked {one['id']} ci" in gone.seen
    again = home.at_terminal("token", "list")
    assert again.wait_end() == 0
    assert "no tokens" in again.seen
    for path in home.state.iterdir():
        if path.is_file() and path.name != "journal.db":
            assert secret.rpartition(".")[2].encode() not in path.read_bytes()


@pytest.mark.sample
def test_a_program_makes_no_tokens(home: Home) -> None:
    done = home.run("token", "create", "ci")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "flybridge: This command requires an interactive terminal. (not_allowed)\n"
    )
    assert home.run("token", "create", "x", "--scope", "approve").returncode == 2


def test_c10_a_token_without_an_end_never_expires(home: Home) -> None:
    assert home.at_terminal("token", "create", "forever").wait_end() == 0
    listing = home.at_terminal("token", "list")
    assert listing.wait_end() == 0
    head, row = listing.seen.strip().splitlines()[-2:]
    assert (head.split()[-1], row.split()[-1]) == ("expires", "never")


def test_a_password_is_not_read_from_a_pipe(home: Home) -> None:
    done = home.run("password", stdin="correct horse\ncorrect horse\n")
    assert done.returncode == 2
    assert done.stderr.startswith("flybridge: Run this command in a terminal to set a password.")


def test_a_password_is_asked_for_twice_and_not_shown(home: Home) -> None:
    terminal = home.at_terminal("password")
    terminal.wait_for("New password:")
    terminal.say("correct horse")
    terminal.wait_for("Repeat")
    terminal.say("correct horse")
    assert terminal.wait_end() == 0
    assert "every login has ended" in terminal.seen
    assert "correct horse" not in terminal.seen
