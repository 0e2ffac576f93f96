from __future__ import annotations

import os
from pathlib import Path

import pytest

from flybridge.agents.demo.files import (
    MAX_FILE_BYTES,
    edit_file,
    inside,
    read_file,
    read_text,
    structured_patch,
    write_file,
)


@pytest.mark.parametrize("name", ["../out", "/etc/hosts", ".", "a/../../out", "link/out", "\0"])
def test_paths_outside_are_refused(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "link").symlink_to(tmp_path)
    assert inside(str(home), name) is None
    assert write_file(str(home), name, "x").failed
    assert not (tmp_path / "out").exists()


def test_a_new_file_is_written(tmp_path: Path) -> None:
    outcome = write_file(str(tmp_path), str(tmp_path / "new.md"), "text")
    assert not outcome.failed
    assert (tmp_path / "new.md").read_text() == "text"


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("precious")
    assert "exists" in write_file(str(tmp_path), "old", "x").text
    assert (tmp_path / "old").read_text() == "precious"


def test_a_folder_is_made_for_a_new_file(tmp_path: Path) -> None:
    assert not write_file(str(tmp_path), "new/file", "x").failed
    assert (tmp_path / "new" / "file").read_text() == "x"


def test_too_much_text_is_an_error(tmp_path: Path) -> None:
    assert write_file(str(tmp_path), "big", "x" * (MAX_FILE_BYTES + 1)).failed
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_read_with_numbered_lines(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\n")
    outcome = read_file(str(tmp_path), "a")
    assert outcome.text == "1\tone\n2\ttwo\n3\t"
    assert isinstance(outcome.detail, dict)
    assert outcome.detail["file"] == {
        "filePath": str(tmp_path / "a"),
        "content": "one\ntwo\n",
        "numLines": 3,
        "startLine": 1,
        "totalLines": 3,
    }


@pytest.mark.parametrize("name", ["../out", "folder", "pipe", "big", "bytes", "missing"])
def test_what_is_no_small_text_file_of_ours_is_neither_read_nor_changed(
    tmp_path: Path, name: str
) -> None:
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (tmp_path / "out").write_text("x")
    os.mkfifo(home / "pipe")
    (home / "big").write_text("x" * (MAX_FILE_BYTES + 1))
    (home / "bytes").write_bytes(b"x\xff")
    assert read_file(str(home), name).failed
    assert edit_file(str(home), name, "x", "y", everywhere=True).failed
    assert (tmp_path / "out").read_text() == "x"
    assert (home / "bytes").read_bytes() == b"x\xff"


def test_an_edit_changes_the_one_place_and_says_where(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("one\r\ntwo\nthree\n")
    outcome = edit_file(str(tmp_path), "a", "two", "TWO", everywhere=False)
    assert path.read_bytes() == b"one\r\nTWO\nthree\n"
    assert isinstance(outcome.detail, dict)
    assert outcome.detail["originalFile"] == "one\r\ntwo\nthree\n"
    assert outcome.detail["structuredPatch"] == [
        {
            "oldStart": 1,
            "oldLines": 3,
            "newStart": 1,
            "newLines": 3,
            "lines": [" one", "-two", "+TWO", " three"],
        }
    ]


def test_an_edit_that_fits_nowhere_or_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x x")
    for old in ("", "y", "x"):
        assert edit_file(str(tmp_path), "a", old, "z", everywhere=False).failed
    assert path.read_text() == "x x"
    assert not edit_file(str(tmp_path), "a", "x", "z", everywhere=True).failed
    assert path.read_text() == "z z"


def test_an_edit_cannot_make_a_file_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    assert edit_file(str(tmp_path), "a", "x", "y" * (MAX_FILE_BYTES + 1), everywhere=False).failed
    assert path.read_text() == "x"


def test_a_link_is_followed_only_within_the_directory(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret").write_text("s")
    (home / "link").symlink_to(tmp_path / "secret")
    assert read_file(str(home), "link").failed
    assert edit_file(str(home), "link", "s", "t", everywhere=False).failed
    assert read_text(home / "link") is None


def test_distant_changes_are_hunks_of_their_own() -> None:
    before = "\n".join(str(n) for n in range(40))
    after = before.replace("\n3\n", "\nthree\n").replace("\n30\n", "\n")
    first, second = structured_patch(before, after)
    assert first["lines"].count("-3") == first["lines"].count("+three") == 1
    assert (second["oldStart"], second["oldLines"], second["newLines"]) == (28, 7, 6)
    assert structured_patch("same", "same") == []
