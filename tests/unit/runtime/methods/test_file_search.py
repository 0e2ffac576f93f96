from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flybridge.runtime.methods import file_search
from flybridge.runtime.methods.file_search import FileSearch, list_files, ranked


def tree(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, timeout=30, capture_output=True)


def paths(folder: Path) -> set[str]:
    return set(list_files(str(folder)).paths)


@pytest.mark.needs("git")
def test_in_a_repository_what_is_ignored_is_left_out(tmp_path: Path) -> None:
    tree(tmp_path, "src/a.py", "src/new.py", "out/a.log", "ü.txt")
    (tmp_path / ".gitignore").write_text("*.log\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "src/a.py")
    assert paths(tmp_path) == {".gitignore", "src/a.py", "src/new.py", "ü.txt", "src/"}


@pytest.mark.needs("git")
def test_below_a_repositorys_root_only_what_is_below(tmp_path: Path) -> None:
    tree(tmp_path, "a/in.py", "b/out.py")
    git(tmp_path, "init", "-q")
    assert paths(tmp_path / "a") == {"in.py"}


@pytest.mark.needs("git")
def test_a_hostile_repository_runs_nothing(tmp_path: Path) -> None:
    """Its own configuration names programs that git would start."""
    repository = tmp_path / "repository"
    tree(repository, "a.py")
    git(repository, "init", "-q")
    proof = tmp_path / "proof"
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ntouch {proof}\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.hooksPath", "core.pager", "core.sshCommand"):
        git(repository, "config", key, str(script))
    assert "a.py" in paths(repository)
    assert not proof.exists()


def test_without_a_repository_the_directory_is_walked(tmp_path: Path) -> None:
    tree(tmp_path, "a.py", "deep/er/b.py", "node_modules/x.js", ".git-not/c")
    assert paths(tmp_path) == {
        "a.py",
        "deep/er/b.py",
        ".git-not/c",
        "deep/",
        "deep/er/",
        ".git-not/",
    }


def test_no_link_is_followed_and_none_is_shown(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    tree(outside, "secret.txt")
    inside = tmp_path / "inside"
    tree(inside, "plain.txt")
    (inside / "link").symlink_to(outside)
    (inside / "file").symlink_to(outside / "secret.txt")
    (inside / "loop").symlink_to(inside)
    assert paths(inside) == {"plain.txt"}


@pytest.mark.needs("git")
def test_a_folder_that_became_a_link_leads_nowhere(tmp_path: Path) -> None:
    """git still lists what it had; what is found has to be there without a link on the way."""
    outside = tmp_path / "outside"
    tree(outside, "secret.txt")
    inside = tmp_path / "inside"
    tree(inside, "a/secret.txt", "b.txt")
    git(inside, "init", "-q")
    git(inside, "add", ".")
    (inside / "a" / "secret.txt").unlink()
    (inside / "a").rmdir()
    (inside / "a").symlink_to(outside)
    found = FileSearch().find(str(inside), "", 20)
    assert [one.path for one in found.files if "secret" in one.path] == []
    assert "b.txt" in [one.path for one in found.files]


def test_there_is_a_bound_to_how_much_is_looked_at(tmp_path: Path) -> None:
    tree(tmp_path, *(f"{n}.txt" for n in range(30)))
    found = list_files(str(tmp_path), max_files=10)
    assert (len(found.paths), found.truncated) == (10, True)
    found = list_files(str(tmp_path), within_s=-1)
    assert found.truncated


@pytest.mark.needs("git")
def test_there_is_a_bound_to_what_git_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, *(f"{n}.txt" for n in range(30)))
    git(tmp_path, "init", "-q")
    monkeypatch.setattr(file_search, "MAX_GIT_BYTES", 50)
    found = list_files(str(tmp_path))
    assert 0 < len(found.paths) < 30
    assert found.truncated


def test_names_that_are_no_text_are_passed_over(tmp_path: Path) -> None:
    os.close(os.open(os.fsencode(tmp_path) + b"/\xff\xfe", os.O_CREAT))
    tree(tmp_path, "a.txt")
    assert paths(tmp_path) == {"a.txt"}


def test_a_directory_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert FileSearch().find(str(tmp_path / "gone"), "", 5).files == []


def test_what_was_listed_is_good_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = FileSearch()
    tree(tmp_path, "a.txt")
    assert len(search.find(str(tmp_path), "", 5).files) == 1
    tree(tmp_path, "b.txt")
    assert len(search.find(str(tmp_path), "", 5).files) == 1
    monkeypatch.setattr(file_search, "FRESH_S", 0.0)
    assert len(search.find(str(tmp_path), "", 5).files) == 2


PATHS = (
    "src/main.py",
    "src/domain.py",
    "tests/test_main.py",
    "docs/manual/index.md",
    "src/",
    "Makefile",
    "src/my_app_in.py",
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("main", "src/main.py"),
        ("main.py", "src/main.py"),
        ("MAKE", "Makefile"),
        ("tests/main", "tests/test_main.py"),
        ("src", "src/"),
        ("man", "docs/manual/index.md"),
        ("idx", "docs/manual/index.md"),
        ("mai", "src/main.py"),
    ],
)
def test_what_is_meant_comes_first(query: str, first: str) -> None:
    found = ranked(PATHS, query, 10)
    if query == "man":
        assert first in found
    else:
        assert found[0] == first


def test_letters_that_are_not_there_find_nothing() -> None:
    assert ranked(PATHS, "zzz", 10) == []
    assert ranked(PATHS, "[(*", 10) == []


@given(
    st.lists(st.text("ab/._", min_size=1, max_size=8), max_size=20), st.text("ab._[^", max_size=4)
)
def test_every_path_with_these_letters_in_order_is_found_and_no_other(
    some: list[str], query: str
) -> None:
    def has(path: str) -> bool:
        letters = iter(path.lower())
        return all(one in letters for one in query)

    known = tuple(dict.fromkeys(some))
    if query.removeprefix("./") == query and query:
        assert set(ranked(known, query, 100)) == {one for one in known if has(one)}
