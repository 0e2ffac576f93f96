from __future__ import annotations

import errno
from pathlib import Path

import pytest

from flybridge.errors import StorageError, StorageFullError
from flybridge.store.ballast import Ballast, disk_error


def test_ballast_is_made_of_real_blocks_that_only_we_may_read(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path / "ballast", 2**20)
    assert not ballast.held
    ballast.restore()
    found = ballast.path.stat()
    assert (ballast.held, found.st_size, found.st_mode & 0o777) == (True, 2**20, 0o600)
    assert found.st_blocks * 512 >= 2**20


def test_it_is_given_up_once_and_taken_again(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path / "ballast", 4096)
    ballast.restore()
    ballast.restore()
    assert [ballast.release(), ballast.release()] == [True, False]
    ballast.restore()
    assert ballast.held


def test_one_of_another_size_is_made_right(tmp_path: Path) -> None:
    Ballast(tmp_path / "ballast", 8192).restore()
    for size in (4096, 12288):
        Ballast(tmp_path / "ballast", size).restore()
        assert (tmp_path / "ballast").stat().st_size == size


def test_none_is_held_when_none_is_wanted(tmp_path: Path) -> None:
    ballast = Ballast(tmp_path / "ballast", 0)
    ballast.restore()
    assert not ballast.held
    assert not ballast.release()


def test_a_disk_that_refuses_leaves_no_half_of_it(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="nowhere"):
        Ballast(tmp_path / "nowhere" / "ballast", 4096).restore()
    too_much = Ballast(tmp_path / "ballast", 2**62)  # more than any file may have
    with pytest.raises(StorageError):
        too_much.restore()
    assert not too_much.path.exists()


def test_a_full_disk_is_told_from_a_broken_one(tmp_path: Path) -> None:
    for code in (errno.ENOSPC, errno.EDQUOT):
        assert type(disk_error(OSError(code, "full"), tmp_path)) is StorageFullError
    assert type(disk_error(OSError(errno.EIO, "broken"), tmp_path)) is StorageError
