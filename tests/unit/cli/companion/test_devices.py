from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness.terminal_home import STEADY, Home
from tests.unit.cli.gateway.test_serve import serving


def person(home: Home, *args: str) -> str:
    """What a command says to somebody at a terminal."""
    terminal = home.at_terminal(*args, columns=2000)
    assert terminal.wait_end() == 0, terminal.seen
    return terminal.seen.strip()


def listed(home: Home) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(person(home, "devices", "list", "--json"))
    return found


@pytest.mark.sample
def test_a_device_with_a_token_is_made_listed_and_taken_back(home: Home) -> None:
    flags = ("--may", "approve", "--may", "input", "--slot", "0")
    token = person(home, "devices", "pair", "--token", "--name", "the box", *flags)
    assert token.startswith("fbd_")
    seen = person(home, "devices", "list")
    assert "come in at no address" in seen
    assert "the box" in seen
    assert token not in seen
    [device] = listed(home)["devices"]
    assert (device["rights"], device["slots"]) == (["view", "input", "approve"], [0])
    assert "revoked" in person(home, "devices", "revoke", "the box")
    assert listed(home)["devices"] == []
    assert token.partition(".")[2] not in (home.state / "devices").read_text()


def test_a_code_that_no_device_shows_is_refused(home: Home) -> None:
    terminal = home.at_terminal("devices", "pair", "ABCDEFGH", "--name", "box")
    assert terminal.wait_end() == 1
    assert "(pairing_over)" in terminal.seen


def test_a_program_pairs_nothing(home: Home) -> None:
    for args in (
        ("list",),
        ("pair", "--token", "--name", "x", "--may", "approve"),
        ("revoke", "x"),
        ("slot", "0", "--agent", "demo"),
    ):
        done = home.run("devices", *args)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.endswith("(not_allowed)\n")


def test_a_code_or_a_token_and_not_both(home: Home) -> None:
    assert home.run("devices", "pair", "--name", "x").returncode == 2
    assert home.run("devices", "pair", "CODE", "--token", "--name", "x").returncode == 2
    assert home.run("devices", "pair", "--token", "--name", "x", "--may", "admin").returncode == 2


def test_a_slot_says_what_is_started_in_it(home: Home) -> None:
    folder = home.work / "project"
    folder.mkdir()
    said = person(home, "devices", "slot", "5", "--agent", STEADY, "--dir", str(folder))
    assert said == f"slot 5: {STEADY} {folder}"
    person(home, "devices", "slot", "5", "--mode", "plan")
    with serving(home, "--companion-host", "127.0.0.1", "--companion-port", "0"):
        found = listed(home)
        seen = person(home, "devices", "list")
    assert found["listening"].startswith("127.0.0.1:")
    assert len(found["slots"]) == 6
    last = found["slots"][5]
    assert (last["agent"], last["dir"], last["mode"]) == (STEADY, str(folder), "plan")
    assert str(folder) in seen
