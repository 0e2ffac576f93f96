"""Showing and setting configuration, as the program does it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "flybridge", "config", *args],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=30,
    )


@pytest.mark.conforms("S4-5.1", "S4-5.3")
def test_what_is_set_is_what_holds_and_comments_stay(tmp_path: Path) -> None:
    assert run(tmp_path, "get", "output").stdout == "cli\n"
    file = Path(run(tmp_path, "path").stdout.strip())
    file.parent.mkdir(parents=True)
    file.write_text("# mine\nlimits:  # how much\n  sessions: 7 # few\n")
    file.chmod(0o600)
    assert run(tmp_path, "set", "output", "json").returncode == 0
    assert run(tmp_path, "get", "output.adhoc_output").stdout == "json\n"
    assert run(tmp_path, "set", "limits.idle_s", "5").returncode == 0
    text = file.read_text()
    assert "# mine\nlimits:  # how much\n  sessions: 7 # few\n  idle_s: 5\n" in text
    assert "adhoc_output: json" in text
    assert file.stat().st_mode & 0o777 == 0o600
    assert "limits.sessions: 7\n" in run(tmp_path, "list").stdout
    assert os.listdir(file.parent) == ["config.yaml"]  # noqa: PTH208


def test_a_wrong_key_or_value_names_the_right_ones_and_changes_nothing(tmp_path: Path) -> None:
    unknown = run(tmp_path, "set", "outputt", "json")
    assert unknown.returncode == 1
    assert "output.adhoc_output" in unknown.stderr
    bad = run(tmp_path, "set", "output", "xml")
    assert bad.returncode == 1
    assert "must be one of cli, json" in bad.stderr
    assert run(tmp_path, "get", "agents.nobody.kind").returncode == 1
    assert not Path(run(tmp_path, "path").stdout.strip()).exists()


@pytest.mark.conforms("S4-5.1")
def test_a_project_file_wins_and_says_only_what_it_may(tmp_path: Path) -> None:
    assert run(tmp_path, "set", "output", "json", "--project").returncode == 0
    assert (tmp_path / ".flybridge" / "config.yaml").is_file()
    assert run(tmp_path, "get", "output").stdout == "json\n"
    for key, value in (("limits.sessions", "3"), ("agents.demo.program", "[sh]")):
        refused = run(tmp_path, "set", key, value, "--project")
        assert refused.returncode == 1
        assert "a project file may not set this" in refused.stderr
