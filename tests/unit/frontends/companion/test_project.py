"""Inside a project, or not: whatever way a path is written, and whatever links are on it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flybridge.agents.claude.driver.trust import TRUST_FILES
from flybridge.frontends.companion import project as module
from flybridge.model.trust import TrustFiles
from tests.harness.other_agent import CourierAgent


def is_inside(folder: str, file: str, agents: tuple[TrustFiles, ...] = (TRUST_FILES,)) -> bool:
    return module.is_inside(folder, file, agents)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("")
    (tmp_path / "secret").write_text("")
    return project


@pytest.mark.parametrize(
    "file", ["src/a.py", "new.txt", "not/there/yet.txt", "src/../b", "./src/a.py", "src/.hidden"]
)
def test_a_file_of_the_project_is_inside(project: Path, file: str) -> None:
    assert is_inside(str(project), file)
    assert is_inside(str(project), str(project / file))


@pytest.mark.parametrize(
    "file",
    [
        "",
        ".",
        "src",
        "..",
        "../secret",
        "src/../../secret",
        "/etc/passwd",
        "a\0b",
        "x" * 5000,
        ".git/hooks/pre-commit",
        "src/.git/config",
        ".claude/settings.json",
        ".CLAUDE/settings.json",
        ".mcp.json",
        "sub/.mcp.json",
    ],
)
def test_everything_else_is_not(project: Path, file: str) -> None:
    assert not is_inside(str(project), file)


@pytest.mark.parametrize(
    "file",
    [
        "~/.bashrc",
        "~",
        "~root/.bashrc",
        " /etc/passwd",
        "/etc/passwd ",
        "\u00a0/etc/passwd",
        "\ufeff/etc/passwd",
        "\n/etc/passwd",
        "a\rb",
        "a\x1b[2Kb",
        "a\x85b",
    ],
)
def test_a_path_that_an_agent_may_read_as_another_one_is_not_inside(
    project: Path, file: str
) -> None:
    assert not is_inside(str(project), file)


@pytest.mark.parametrize("file", ["src/~/a", "a~", "two words.txt"])
def test_such_characters_inside_a_name_do_no_harm(project: Path, file: str) -> None:
    assert is_inside(str(project), file)


def test_a_project_beside_with_the_same_beginning_is_not_inside(project: Path) -> None:
    assert not is_inside(str(project), f"{project}-other/file")


def test_links_count_by_where_they_lead(project: Path, tmp_path: Path) -> None:
    (project / "out").symlink_to(tmp_path)
    (project / "file").symlink_to(tmp_path / "secret")
    (project / "dangling").symlink_to(tmp_path / "none")
    (project / "loop").symlink_to("loop")
    (project / "in").symlink_to("src")
    assert not is_inside(str(project), "out/x")
    assert not is_inside(str(project), "file")
    assert not is_inside(str(project), "dangling")
    assert not is_inside(str(project), "loop/x")
    assert is_inside(str(project), "in/a.py")


def test_a_project_by_a_link_is_the_folder_it_leads_to(project: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project)
    assert is_inside(str(tmp_path / "link"), str(project / "src" / "a.py"))
    assert is_inside(str(tmp_path / "link"), str(tmp_path / "link" / "new"))


def test_what_is_no_file_is_not_edited(project: Path) -> None:
    os.mkfifo(project / "pipe")
    assert not is_inside(str(project), "pipe")


@pytest.mark.parametrize("folder", ["/", "", "relative", "/no/such/folder"])
def test_a_folder_that_is_no_project_has_nothing_inside(folder: str) -> None:
    assert not is_inside(folder, "/no/such/folder/file")
    assert not is_inside(folder, "tmp/file")


def test_settings_of_every_agent_are_obeyed_by_somebody(project: Path) -> None:
    other, both = CourierAgent.trust_files, (CourierAgent.trust_files, TRUST_FILES)
    for file in (
        ".courier/config.toml",
        "sub/.Courier/Config.toml",
        "courier.json",
        "sub/courier.json",
    ):
        assert not is_inside(str(project), file, (other,))
        assert not is_inside(str(project), file, both)
    assert not is_inside(str(project), ".claude/settings.json", both)
    assert is_inside(str(project), ".courier/notes.md", both)
    assert is_inside(str(project), "COURIER.md", both)
    assert not is_inside(str(project), ".git/config", ())
