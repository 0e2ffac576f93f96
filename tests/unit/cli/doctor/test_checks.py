from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

import flybridge
from flybridge.cli.doctor.checks import (
    check_configuration,
    check_git,
    check_system,
    examine,
    within,
)
from flybridge.config.state_dir import StateDir


def environ(home: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"], **more}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def test_versions_are_named() -> None:
    check = check_system()
    assert check.status == "ok"
    assert check.text.startswith(f"{flybridge.__version__}, Python 3.")


def test_git_is_mentioned_only_where_it_is_missing(tmp_path: Path) -> None:
    assert [one.status for one in check_git({"PATH": str(tmp_path)})] == ["note"]
    program = write(tmp_path / "git", "#!/bin/sh\n")
    program.chmod(0o700)
    assert check_git({"PATH": str(tmp_path)}) == []


# ---- configuration -------------------------------------------------------------------------------


def test_without_a_file_it_says_where_one_would_be(tmp_path: Path) -> None:
    config, (check,) = check_configuration(environ(tmp_path), tmp_path)
    assert config is not None
    assert check.status == "ok"
    assert f"({tmp_path}/.config/flybridge/config.yaml)" in check.text


def test_a_broken_file_is_a_problem_with_its_place(tmp_path: Path) -> None:
    file = write(tmp_path / ".config" / "flybridge" / "config.yaml", "a: [1\n")
    config, (check,) = check_configuration(environ(tmp_path), tmp_path)
    assert config is None
    assert check.status == "problem"
    assert check.text.startswith(str(file))


def test_a_variable_is_named_and_a_bad_one_is_a_problem(tmp_path: Path) -> None:
    _, (good,) = check_configuration(environ(tmp_path, FLYBRIDGE_TITLE="a secret"), tmp_path)
    assert good.detail == "set in the environment: FLYBRIDGE_TITLE"
    _, (bad,) = check_configuration(environ(tmp_path, FLYBRIDGE_LOG_LEVEL="loud"), tmp_path)
    assert (bad.status, bad.text[:19]) == ("problem", "FLYBRIDGE_LOG_LEVEL")


def test_a_project_that_asks_for_too_much_does_not_spoil_the_rest(tmp_path: Path) -> None:
    write(tmp_path / ".config" / "flybridge" / "config.yaml", "default_agent: demo\n")
    project = tmp_path / "p"
    file = write(project / ".flybridge" / "config.yaml", "agents: {}\n")
    config, found = check_configuration(environ(tmp_path), project)
    assert config is not None
    assert config.default_agent == "demo"
    assert [(one.area, one.status) for one in found] == [
        ("configuration", "ok"),
        ("project file", "problem"),
    ]
    assert str(file) in found[1].text


# ---- everything ----------------------------------------------------------------------------------


async def test_what_hangs_is_not_waited_for() -> None:
    never = threading.Event()
    with pytest.raises(TimeoutError):
        await within(0.05, never.wait)
    never.set()


async def test_what_fails_fails_as_it_would_have() -> None:
    with pytest.raises(ZeroDivisionError):
        await within(5, lambda: 1 // 0)
    assert await within(5, lambda: 42) == 42


async def test_nothing_in_a_folder_that_cannot_be_trusted_is_looked_at(tmp_path: Path) -> None:
    write(tmp_path / ".config" / "flybridge" / "config.yaml", "default_agent: demo\n")
    folder = tmp_path / "s"
    folder.mkdir(mode=0o755)
    found = await examine(StateDir(folder), environ(tmp_path), tmp_path)
    areas = [one.area for one in found]
    assert areas[-1] == "state"
    assert "journal" not in areas
    assert found[-1].status == "problem"
