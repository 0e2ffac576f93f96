from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.model.ci_key import CiKey
from flybridge.store.ci_keys import CiKeyFile

KEY = CiKey(id="i", name="n", modes=("acceptEdits",), digest="d", created_ms=1, expires_ms=2)


def test_keys_are_there_after_a_restart_and_belong_to_one_user(tmp_path: Path) -> None:
    path = tmp_path / "ci-keys"
    keys = CiKeyFile(path)
    assert keys.all() == ()
    keys.replace((KEY,))
    assert keys.all() == CiKeyFile(path).all() == (KEY,)
    assert path.stat().st_mode & 0o077 == 0
    keys.replace(())
    assert CiKeyFile(path).all() == ()


def test_c03_a_file_that_others_could_have_written_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ci-keys"
    CiKeyFile(path).replace((KEY,))
    path.chmod(0o644)
    with pytest.raises(StorageError, match="open to others"):
        CiKeyFile(path)
    path.unlink()
    path.symlink_to("/dev/null")
    with pytest.raises(StorageError):
        CiKeyFile(path)


def test_c03_a_change_of_the_file_is_not_seen_by_a_running_gateway(tmp_path: Path) -> None:
    path = tmp_path / "ci-keys"
    keys = CiKeyFile(path)
    CiKeyFile(path).replace((KEY,))
    assert keys.all() == ()


@pytest.mark.parametrize("data", [b"{", b'{"version":9}', b'{"keys":[{}]}'])
def test_a_file_that_is_not_ours_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "ci-keys"
    path.write_bytes(data)
    path.chmod(0o600)
    with pytest.raises(StorageCorruptError):
        CiKeyFile(path)
