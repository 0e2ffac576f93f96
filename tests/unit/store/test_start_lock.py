from __future__ import annotations

import os
from pathlib import Path

import pytest

from flybridge.errors import BusyError
from flybridge.store.start_lock import lock_folder, take_lock


def test_a_lock_is_taken_once_and_can_be_taken_again_when_it_is_free(tmp_path: Path) -> None:
    folder = tmp_path / "locks"
    release = take_lock(folder, "one")
    with pytest.raises(BusyError):
        take_lock(folder, "one")
    take_lock(folder, "two")()
    release()
    take_lock(folder, "one")()
    assert folder.stat().st_mode & 0o777 == 0o700


def test_where_others_could_hold_it_for_ever_there_is_none(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    take_lock(shared, "one")
    take_lock(shared, "one")()
    assert list(shared.iterdir()) == []
    (tmp_path / "file").write_text("")
    take_lock(tmp_path / "file", "one")()


def test_gateways_of_a_user_look_in_the_same_place(tmp_path: Path) -> None:
    assert lock_folder({"XDG_RUNTIME_DIR": str(tmp_path)}) == tmp_path / "flybridge"
    own = Path(f"/tmp/flybridge-{os.getuid()}")
    for env in ({}, {"XDG_RUNTIME_DIR": ""}, {"XDG_RUNTIME_DIR": str(tmp_path / "none")}):
        assert lock_folder(env) == own
