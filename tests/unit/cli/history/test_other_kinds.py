"""The commands of ``flybridge history`` with a kind of agent that is not Claude."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flybridge.config.state_dir import StateDir
from tests.harness.kept_by_courier import CONFIG_ENV
from tests.harness.other_agent import KIND
from tests.harness.scripted_gateway import ScriptedGateway

ROOT = Path(__file__).parents[4]
PROGRAM = "from flybridge.cli.history.command import history; history(prog_name='history')"
MODULE = """
from flybridge.agents.kinds import AgentKind
from tests.harness.kept_by_courier import CONFIG_ENV, CourierHistory, ReadableCourierHistory
from tests.harness.other_agent import PROGRAM, CourierAgent

LISTED = AgentKind(
    name="courier", program=PROGRAM, build=lambda settings: CourierAgent(),
    history=CourierHistory, config_env=CONFIG_ENV,
)
READ = AgentKind(
    name="reader", program=PROGRAM, build=lambda settings: CourierAgent(),
    history=ReadableCourierHistory,
)
NONE = AgentKind(name="silent", program=PROGRAM, build=lambda settings: CourierAgent())
"""
POINTS = """[flybridge.agents]
courier = courier_kinds:LISTED
reader = courier_kinds:READ
silent = courier_kinds:NONE
"""


class Machine:
    """A machine where packages with other kinds are installed."""

    def __init__(self, base: Path) -> None:
        self.base = base
        info = base / "packages" / "courier_kinds-1.0.dist-info"
        info.mkdir(parents=True)
        (base / "packages" / "courier_kinds.py").write_text(MODULE)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: courier-kinds\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(POINTS)
        path = os.pathsep.join((str(base / "packages"), str(ROOT)))
        self.env = {**os.environ, "PYTHONPATH": path, CONFIG_ENV: str(base)}
        parcels = [
            {"id": "par-1", "text": "a heavy box", "cwd": "/a"},
            {"id": "par-2", "text": "a letter", "cwd": str(base)},
        ]
        (base / "parcels").write_text("".join(json.dumps(parcel) + "\n" for parcel in parcels))

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *args],
            env=self.env,
            cwd=self.base,
            capture_output=True,
            text=True,
            timeout=60,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_conversations_of_another_kind_are_listed_and_searched(machine: Machine) -> None:
    done = machine.run("list", "--kind", KIND, "--json")
    assert [row["session"] for row in json.loads(done.stdout)] == ["par-2", "par-1"], done.stderr
    here = machine.run("list", "--kind", KIND, "--here")
    assert ("par-2" in here.stdout, "par-1" in here.stdout) == (True, False)
    assert machine.run("search", "--kind", KIND, "heavy").stdout == "par-1    user: a heavy box\n"


def test_the_directory_of_another_kind_can_be_named(machine: Machine) -> None:
    empty = machine.base / "empty"
    done = machine.run("list", "--kind", KIND, "--config", str(empty))
    assert done.stdout == "no conversations\n"
    refused = machine.run("list", "--kind", "reader", "--config", str(empty))
    assert (refused.returncode, "have no such directory" in refused.stderr) == (1, True)


def test_what_a_kind_does_not_have_is_said_plainly(machine: Machine) -> None:
    for args, words in (
        (("list", "--kind", "silent"), "agents of the kind 'silent' keep no conversations"),
        (("show", "par-1", "--kind", KIND), "can be listed, not shown (not_supported)"),
        (("doctor", "--kind", KIND), "cannot be checked (not_supported)"),
        (("show", "par-9", "--kind", KIND), "no session 'par-9' (session_not_found)"),
        (("show", "par", "--kind", KIND), "could be any of par-1, par-2"),
        (("list", "--kind", "kayak"), "there is none"),
    ):
        done = machine.run(*args)
        assert (done.returncode, words in done.stderr) == (1, True), (args, done.stderr)


def test_a_conversation_of_another_kind_is_shown_where_it_can_be(machine: Machine) -> None:
    done = machine.run("show", "par-2", "--kind", "reader")
    assert "> a letter" in done.stdout, done.stderr


async def test_a_conversation_of_another_kind_is_resumed_by_its_agent(
    machine: Machine, short_tmp: Path
) -> None:
    import asyncio

    gateway = ScriptedGateway(StateDir(str(short_tmp / "s")))
    asked: list[dict[str, object]] = []

    def opened(params: dict[str, object]) -> object:
        asked.append(params)
        return {"session": "ses_0123456789", "resumed": "par-1"}

    gateway.asks["open"] = opened
    await gateway.start()
    args = ("resume", "par-1", "--kind", KIND, "--state", str(short_tmp / "s"))
    done = await asyncio.to_thread(machine.run, *args)
    await gateway.stop()
    assert done.returncode == 0, done.stderr
    (params,) = asked
    assert (params["agent"], params["resume"], params["cwd"]) == (KIND, "par-1", "/a")
