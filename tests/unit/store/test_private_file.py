from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import StorageError
from flybridge.store.private_file import MAX_BYTES, read_private, write_private


def test_what_was_written_is_read_and_is_for_one_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "f"
    assert read_private(path) is None
    write_private(path, b"one")
    write_private(path, b"two")
    assert read_private(path) == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == ["f"]


def test_half_a_write_of_an_earlier_life_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / ".f.new").write_bytes(b"half")
    write_private(tmp_path / "f", b"whole")
    assert read_private(tmp_path / "f") == b"whole"


def test_a_file_others_could_have_written_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_private(path, b"x")
    path.chmod(0o640)
    with pytest.raises(StorageError, match="chmod 600"):
        read_private(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(StorageError):
        read_private(link)
    (tmp_path / "folder").mkdir(mode=0o700)
    with pytest.raises(StorageError, match="not a file"):
        read_private(tmp_path / "folder")
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    big.chmod(0o600)
    with pytest.raises(StorageError, match="longer"):
        read_private(big)


def test_a_disk_that_refuses_leaves_the_old_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        write_private(tmp_path / "none" / "f", b"x")
