"""The examples on the page about CI run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.terminal_home import Home, home_in

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "run-in-ci.md"


def block(language: str, words: str) -> str:
    found = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return str(next(one for one in found if words in one))


def run(home: Home, *argv: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    more = {"FLYBRIDGE_STATE": str(home.state), "FLYBRIDGE_DEFAULT_AGENT": "recorder"}
    return subprocess.run(
        argv,
        env={**home.env, **more, "PATH": path},
        cwd=home.work,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=50,
    )


@pytest.mark.needs("jq")
def test_the_shell_example_prints_the_summary(short_tmp: Path) -> None:
    with home_in(short_tmp) as home:
        done = run(home, "sh", "-c", block("sh", "jq"))
    assert (done.stdout, done.stderr) == ("ok: list the files\n", "")


def test_the_python_example_runs_to_the_end(short_tmp: Path) -> None:
    with home_in(short_tmp) as home:
        done = run(home, sys.executable, "-c", block("python", "Popen"))
    assert "run.completed" in done.stdout
    assert "ok: tidy up" in done.stdout
