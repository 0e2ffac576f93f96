from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.harness.agent_programs import dialler_program
from tests.harness.terminal_home import Home

pytestmark = pytest.mark.needs("linux")


@pytest.fixture
def program(home: Home) -> list[str]:
    """An agent of a version that connects to us, known to the gateway as ``old``."""
    program = dialler_program(home.record)
    config = home.base / "config" / "flybridge" / "config.yaml"
    words = f"  old:\n    kind: claude\n    program: {json.dumps(program)}\n"
    config.write_text(config.read_text() + words)
    return program


def test_it_prints_the_address_and_nothing_else(home: Home, program: list[str]) -> None:
    done = home.run("companion", "url", "1", "--agent", "old")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ws://127.0.0.1:")
    assert "/ws/cli/1?ticket=inc_" in done.stdout
    again = home.run("companion", "url", "1", "--agent", "old")
    assert again.stdout == done.stdout
    other = home.run("companion", "url", "0", "--agent", "old")
    assert "/ws/cli/0?" in other.stdout
    assert {row["labels"]["companion.slot"] for row in home.sessions()} == {"0", "1"}


def test_who_comes_to_it_is_the_sessions_agent(home: Home, program: list[str]) -> None:
    url = home.run("companion", "url", "2", "--agent", "old").stdout.strip()
    agent = subprocess.Popen([*program, "--sdk-url", url])
    try:
        session = home.session()
        said = home.run("chat", "--session", session, stdin="hello")
        assert "ok: hello" in said.stdout
        taken = home.run("companion", "url", "2", "--agent", "old")
        assert taken.returncode == 1
        assert taken.stderr.endswith("(busy)\n")
    finally:
        agent.kill()
        agent.wait(10)


def test_a_version_that_refuses_is_said_so(home: Home) -> None:
    done = home.run("companion", "url", "0", "--agent", "recorder")
    assert done.returncode == 1
    assert "does not connect to us" in done.stderr
    assert done.stderr.endswith("(transport_refused)\n")
    assert home.sessions() == []
    new = home.run("sessions", "new", "--agent", "recorder", "--transport", "socket")
    assert new.stderr.endswith("(transport_refused)\n")


@pytest.mark.parametrize("slot", ["16", "-1", "one"])
def test_a_slot_is_a_small_number(home: Home, slot: str, tmp_path: Path) -> None:
    done = home.run("companion", "url", "--", slot)
    assert (done.returncode, "SLOT must be a number from 0 to 15." in done.stderr) == (2, True)
