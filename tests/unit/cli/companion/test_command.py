"""The handheld in a terminal, against a server that runs: by eye and by hand."""

from __future__ import annotations

import pytest

from tests.harness.terminal_home import STEADY, Home
from tests.unit.cli.gateway.test_serve import serving

DEVICES = ("--companion-host", "127.0.0.1", "--companion-port", "0")


@pytest.mark.conforms("S3-1")
def test_the_command_says_what_it_can_do(home: Home) -> None:
    assert "buttons" in home.run("companion", "run", "--help").stdout
    assert "--companion-host" in home.run("serve", "--help").stdout


@pytest.mark.sample
def test_somebody_at_a_terminal_holds_a_device_in_their_hands(home: Home) -> None:
    home.env["FLYBRIDGE_DEFAULT_AGENT"] = STEADY
    with serving(home, *DEVICES):
        screen = home.at_terminal("companion", "run", columns=80, lines=24)
        screen.wait_for("[0 steady]", "IDLE")
        screen.type("i")
        screen.wait_for("> _")
        screen.say("run echo hello")
        screen.wait_for("WAITING", "Bash", "echo hello")
        screen.type("a")
        screen.wait_for("IDLE")
        screen.type("1")
        screen.wait_for("nobody is here")
        screen.type("s")
        screen.wait_for("agent in slot 1", "[1 steady-2]")
        screen.type("q")
        assert screen.wait_end() == 0
        listing = home.at_terminal("devices", "list")
        listing.wait_end()
        assert "terminal 1" not in listing.seen, "it is a device only while it runs"


def test_without_a_server_for_devices_it_says_so(home: Home) -> None:
    with serving(home):
        screen = home.at_terminal("companion", "run")
        assert screen.wait_end() == 1
        assert "--companion-host" in screen.seen
    nowhere = home.run("companion", "run", "--address", "127.0.0.1:1", "--token", "x")
    assert nowhere.returncode == 1
    assert "no server for devices" in nowhere.stderr


def test_a_program_is_no_person_and_lets_itself_in_nowhere(home: Home) -> None:
    home.env["FLYBRIDGE_DEFAULT_AGENT"] = STEADY
    with serving(home, *DEVICES):
        done = home.run("companion", "run")
        assert done.returncode == 1
        assert done.stderr.endswith("(not_allowed)\n")
