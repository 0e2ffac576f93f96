from __future__ import annotations

import json
from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError
from flybridge.store import trusted
from flybridge.store.trusted import TrustedFolders


def test_a_folder_is_trusted_with_all_in_it_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "trusted"
    folders = TrustedFolders(path)
    assert not folders.holds(Path("/a/b"))
    folders.add(Path("/a/b"))
    folders.add(Path("/a/b/c"))  # is trusted already
    again = TrustedFolders(path)
    assert again.all() == ["/a/b"]
    assert again.holds(Path("/a/b/c/d"))
    assert not again.holds(Path("/a"))
    assert not again.holds(Path("/a/bc"))


def test_trust_can_be_taken_back(tmp_path: Path) -> None:
    folders = TrustedFolders(tmp_path / "trusted")
    folders.add(Path("/a"))
    assert not folders.remove(Path("/a/b"))
    assert folders.remove(Path("/a"))
    assert not TrustedFolders(tmp_path / "trusted").holds(Path("/a"))


def test_there_is_an_end_to_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted, "MAX_FOLDERS", 2)
    folders = TrustedFolders(tmp_path / "trusted")
    for name in ("/a", "/b", "/c"):
        folders.add(Path(name))
    assert folders.all() == ["/b", "/c"]


def test_a_file_that_cannot_be_read_trusts_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trusted"
    path.write_text("{}")
    path.chmod(0o600)
    with pytest.raises(StorageCorruptError):
        TrustedFolders(path)


def test_a07_links_and_steps_up_are_resolved_before_folders_are_compared(tmp_path: Path) -> None:
    good, evil = tmp_path / "good", tmp_path / "evil"
    good.mkdir()
    evil.mkdir()
    (good / "inner").symlink_to(evil)
    (tmp_path / "link").symlink_to(good)
    folders = TrustedFolders(tmp_path / "trusted")
    folders.add(tmp_path / "link")
    assert folders.all() == [str(good)]
    assert folders.holds(tmp_path / "link")
    assert not folders.holds(good / ".." / "evil")
    assert not folders.holds(good / "inner")
    assert folders.remove(tmp_path / "link")
    assert not folders.holds(good)


def test_a07_entries_of_older_versions_keep_working_and_are_resolved_once(tmp_path: Path) -> None:
    good, evil, link = tmp_path / "good", tmp_path / "evil", tmp_path / "link"
    good.mkdir()
    evil.mkdir()
    link.symlink_to(good)
    path = tmp_path / "trusted"
    path.write_text(json.dumps([str(link), str(good), f"{evil}/../good", "/gone"]))
    path.chmod(0o600)
    folders = TrustedFolders(path)
    assert folders.all() == [str(good), "/gone"]
    assert folders.holds(link)
    link.unlink()
    link.symlink_to(evil)  # a link that is changed afterwards leads to no trust
    assert not folders.holds(link)
    assert not TrustedFolders(path).holds(evil)
    assert TrustedFolders(path).holds(good)


def test_each_kind_of_agent_is_trusted_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "trusted"
    folders = TrustedFolders(path)
    folders.add(Path("/a"), "other")
    assert folders.holds(Path("/a/b"), "other")
    assert not folders.holds(Path("/a"))
    folders.add(Path("/a/b"))
    folders.add(Path("/c"), "third")
    again = TrustedFolders(path)
    assert again.by_kind() == {"claude": ["/a/b"], "other": ["/a"], "third": ["/c"]}
    assert not again.remove(Path("/a"), "third")
    assert again.remove(Path("/a/b"), "claude")
    assert again.remove(Path("/a"))
    assert TrustedFolders(path).by_kind() == {"third": ["/c"]}


def test_older_versions_read_what_is_theirs_and_count_for_claude(tmp_path: Path) -> None:
    path = tmp_path / "trusted"
    path.write_text(json.dumps(["/old"]))
    path.chmod(0o600)
    folders = TrustedFolders(path)
    assert folders.holds(Path("/old"), "claude")
    assert not folders.holds(Path("/old"), "other")
    folders.add(Path("/new"), "other")
    folders.add(Path("/mine"))
    assert json.loads(path.read_text()) == ["/old", "/mine"]  # the only form that they know


def test_the_file_of_other_kinds_says_nothing_about_the_first(tmp_path: Path) -> None:
    others = tmp_path / "trusted-agents"
    others.write_text(json.dumps({"claude": ["/x"], "other": ["/y"]}))
    others.chmod(0o600)
    assert TrustedFolders(tmp_path / "trusted").by_kind() == {"other": ["/y"]}
    others.write_text("[]")
    with pytest.raises(StorageCorruptError):
        TrustedFolders(tmp_path / "trusted")
