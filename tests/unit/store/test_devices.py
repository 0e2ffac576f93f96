from __future__ import annotations

from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.store.devices import Device, DeviceFile, Known, SlotSpec

BOX = Device(
    id="1", name="box", rights=("view",), created_ms=1, address="198.51.100.7", slots=(0, 2)
)


def test_what_is_changed_is_there_the_next_time_and_nothing_else_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "devices"
    file = DeviceFile(path)
    assert file.known == Known()
    file.change(devices=(BOX,))
    file.change(slots=(SlotSpec(agent="a", dir="/d"),))
    file.change(used={"0": "ses_1"})
    again = DeviceFile(path).known
    assert (again.devices, again.used) == ((BOX,), {"0": "ses_1"})
    assert again.slots == (SlotSpec(agent="a", dir="/d"),)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_does_not_change_is_not_written(tmp_path: Path) -> None:
    file = DeviceFile(tmp_path / "devices")
    file.change(devices=())
    assert not (tmp_path / "devices").exists()


def test_what_could_not_be_written_does_not_hold(tmp_path: Path) -> None:
    file = DeviceFile(tmp_path / "nowhere" / "devices")
    with pytest.raises(StorageError):
        file.change(devices=(BOX,))
    assert file.known.devices == ()


@pytest.mark.parametrize("text", ["[]", '{"version":2}', '{"devices":[{"id":1}]}', "\udcff"])
def test_a_file_that_is_not_ours_is_not_used(tmp_path: Path, text: str) -> None:
    path = tmp_path / "devices"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    path.chmod(0o600)
    with pytest.raises(StorageCorruptError):
        DeviceFile(path)


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """Abuse case 23."""
    path = tmp_path / "devices"
    path.write_text("{}")
    path.chmod(0o644)
    with pytest.raises(StorageError, match="open to others"):
        DeviceFile(path)
