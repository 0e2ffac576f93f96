"""Options of an agent from another package are set on the command line, with no product change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.harness.other_agent import KIND
from tests.harness.terminal_home import Home

ROOT = Path(__file__).parents[4]
MODULE = """
from flybridge.agents.kinds import AgentKind
from tests.harness.other_agent import KIND, PROGRAM, CourierAgent

COURIER = AgentKind(
    name=KIND,
    program=PROGRAM,
    build=lambda settings: CourierAgent(name=settings.name, program=settings.program),
)
"""


@pytest.fixture
def courier(home: Home) -> Home:
    """A home where a package with the courier is installed and configured."""
    packages = home.base / "packages"
    info = packages / "courier_kind-1.0.dist-info"
    info.mkdir(parents=True)
    (packages / "courier_kind.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: courier-kind\nVersion: 1.0\n")
    points = f"[flybridge.agents]\n{KIND} = courier_kind:COURIER\n"
    (info / "entry_points.txt").write_text(points)
    home.env["PYTHONPATH"] = os.pathsep.join((str(packages), str(ROOT)))
    file = home.base / "config" / "flybridge" / "config.yaml"
    more = f"  {KIND}:\n    kind: {KIND}\n    options: {{vehicle: bicycle}}\n"
    file.write_text(file.read_text() + more)
    return home


def test_an_option_is_set_by_name(courier: Home) -> None:
    done = courier.run("chat", "--agent", KIND, "-o", "vehicle=van", stdin="hello")
    assert (done.returncode, done.stdout) == (0, "delivered: hello\n"), done.stderr
    opened = courier.events(courier.session())[0]["event"]
    assert opened["agent_options"] == {"vehicle": "van"}
    done = courier.run("run", "--agent", KIND, "-o", "vehicle=van", "a parcel")
    assert done.returncode == 0, done.stderr


def test_what_is_not_given_is_as_configured(courier: Home) -> None:
    assert courier.run("chat", "--agent", KIND, stdin="hello").returncode == 0
    opened = courier.events(courier.session())[0]["event"]
    assert opened["agent_options"] == {"vehicle": "bicycle"}


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("vehicel=van", "did you mean 'vehicle'? (invalid_option)"),
        ("vehicle=boat", "'boat' is not one of bicycle, van (invalid_option)"),
    ],
)
def test_a_wrong_option_is_wrong_usage(courier: Home, pair: str, words: str) -> None:
    done = courier.run("chat", "--agent", KIND, "-o", pair, stdin="hello")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert courier.sessions() == []


def test_a_program_does_not_grant(courier: Home) -> None:
    done = courier.run("chat", "--agent", KIND, "-o", "open_parcels", stdin="hello")
    assert done.returncode == 1
    assert "The option open_parcels needs an interactive terminal." in done.stderr
