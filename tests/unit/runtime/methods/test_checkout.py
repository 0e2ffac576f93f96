"""What is checked out where a session works: told by real repositories, and by bad ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from flybridge.runtime.methods.checkout import NONE, Checkout, checkout_of

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder: Path, *args: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *named, *args], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-b", "feature/sails")
    git(folder, "commit", "--allow-empty", "-m", "one")
    return folder


def test_a_branch_is_told_from_below_too(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    for place in (repository, repository / "src" / "deep"):
        assert checkout_of(str(place)) == Checkout(branch="feature/sails")


def test_a_branch_without_a_commit_is_one(tmp_path: Path) -> None:
    git(tmp_path, "init", "-b", "new")
    assert checkout_of(str(tmp_path)) == Checkout(branch="new")


def test_without_a_branch_the_commit_is_told(repository: Path) -> None:
    git(repository, "checkout", "--detach")
    found = checkout_of(str(repository))
    assert found.branch == ""
    assert len(found.commit) == 12


def test_a_worktree_has_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-b", "beside", str(tmp_path / "beside"))
    assert checkout_of(str(tmp_path / "beside")) == Checkout(branch="beside")


def test_a_folder_of_no_repository_has_none(tmp_path: Path) -> None:
    assert checkout_of(str(tmp_path)) == NONE
    assert checkout_of(str(tmp_path / "gone")) == NONE


@pytest.mark.parametrize(
    "head",
    [
        "",
        "ref: refs/heads/",
        "ref: refs/heads/a b\n",
        "ref: refs/heads/a\nand more\n",
        "ref: refs/heads/a\x1b[31m\n",
        "ref: refs/tags/v1\n",
        f"ref: refs/heads/{'a' * 201}\n",
        COMMIT[:20],
        "root:x:0:0:root:/root:/bin/sh\n",
    ],
)
def test_nothing_but_a_branch_or_a_commit_is_told_of_a_file(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert checkout_of(str(tmp_path)) == NONE


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert checkout_of(str(tmp_path)) == NONE


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "secret").write_text("ref: refs/heads/secret\n")
    (tmp_path / ".git" / "HEAD").symlink_to(tmp_path / "secret")
    assert checkout_of(str(tmp_path)) == NONE


@pytest.mark.parametrize("text", ["", "gitdir: \n", "gitdir: nowhere\n", "gitdir: a\x00b\n", "x"])
def test_a_pointer_that_leads_nowhere_tells_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert checkout_of(str(tmp_path)) == NONE
