"""The command itself: what it takes, and what it refuses before anything is started."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from flybridge.cli import main
from flybridge.cli.ipc import DEFAULT_AGENT, DEFAULT_MODE


def test_the_command_says_what_it_is_for() -> None:
    shown = CliRunner().invoke(main, ["ipc", "--help"])
    assert shown.exit_code == 0
    for flag in ("--dir", "--agent", "--model", "--permission-mode", "--session", "--plugin-dir"):
        assert flag in shown.output
    assert (DEFAULT_AGENT, DEFAULT_MODE) == ("claude", "acceptEdits")


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["ipc", "--dir", str(tmp_path / "none")])
    assert shown.exit_code == 2
