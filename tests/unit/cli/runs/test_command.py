"""The list of runs."""

from __future__ import annotations

import json

import pytest

from tests.harness.agent_programs import steps
from tests.harness.run_script import Script, finished, marker
from tests.harness.terminal_home import Home


@pytest.mark.sample
def test_runs_are_listed_with_how_they_went(home: Home) -> None:
    assert home.run("runs").stdout == "no runs\n"
    home.run("sessions", "new", "--agent", "demo")  # no run
    finished(home, prompt="hi", run="run_a")
    finished(home, prompt=steps({"die": 3}), run="run_b")
    script = Script(home)
    script.start(steps({"say": marker({"question": "Name?"})}), run="run_c")
    script.wait_for("run.question")
    rows = json.loads(home.run("runs", "--json").stdout)
    found = [(row["run"], row["status"]) for row in rows]
    assert found == [("run_c", "waiting"), ("run_b", "failed"), ("run_a", "completed")]
    script.say("run.cancel", {})
    script.end()
    shown = home.run("runs").stdout.splitlines()
    assert shown[0].startswith("run_c  cancelled ")
    assert shown[0].endswith(f"recorder  {home.work}")
