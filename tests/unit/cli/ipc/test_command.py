"""The command itself: what it takes, and what it refuses before anything is started."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from flybridge.cli.main import main
from flybridge.config import Config
from flybridge.model.agent_kinds import DEFAULT_KIND


def test_the_command_says_what_it_is_for() -> None:
    shown = CliRunner().invoke(main, ["ipc", "--help"])
    assert shown.exit_code == 0
    for flag in ("--dir", "--agent", "--model", "--permission-mode", "--session", "--plugin-dir"):
        assert flag in shown.output
    assert (DEFAULT_KIND, Config().ipc.permission_mode) == ("claude", "acceptEdits")


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["ipc", "--dir", str(tmp_path / "none")])
    assert shown.exit_code == 2


def test_a_mode_that_there_is_not_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "FLYBRIDGE_IPC_PERMISSION_MODE": "bypassPermissions"}
    shown = CliRunner().invoke(main, ["ipc", "--dir", str(tmp_path)], env=env)
    assert shown.exit_code == 1
    assert "FLYBRIDGE_IPC_PERMISSION_MODE" in shown.output
    assert shown.stdout == ""
