from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from flybridge.errors import StorageError
from flybridge.model.audit import Record
from flybridge.store.audit import MAX_FIELD, AuditLog, Bad, Line, lines_of, verify


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "audit.log"
    log = AuditLog(path, lambda: 7)
    for n in range(5):
        log.write(Record(event="login", outcome="refused", source=f"s{n}"))
    log.close()
    return path


def test_records_follow_each_other(path: Path) -> None:
    assert verify(path) == 5
    again = AuditLog(path, lambda: 8)
    again.write(Record(event="open", outcome="done"))
    again.close()
    assert verify(path) == 6
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("nth", range(5))
def test_any_changed_byte_is_found_in_its_record(path: Path, nth: int) -> None:
    """Abuse case 63."""
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    start = sum(map(len, lines[:nth]))
    for at in range(start, start + len(lines[nth]) - 1):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        found = verify(path)
        assert isinstance(found, Bad), (at, whole[at : at + 1])
        assert found.n in (nth + 1, nth + 2)  # a newline that appears makes two of one
    path.write_bytes(whole)
    assert verify(path) == 5


def test_a_record_that_was_taken_out_or_cut_off_is_missed(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert verify(path) == Bad(3, "does not follow the one before it")
    path.write_bytes(b"".join(lines[:3]))
    assert verify(path) == Bad(4, "was cut off")


def test_a_new_chain_does_not_fit_the_note_of_its_end(path: Path) -> None:
    path.unlink()
    log = AuditLog(path, lambda: 9)
    for _ in range(5):
        log.write(Record(event="x", outcome="done"))
    assert verify(path) == Bad(5, "is not the one that was written")
    log.close()
    assert verify(path) == 5


def test_half_a_line_after_a_power_cut_is_no_accusation(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"event":"lo')
    log = AuditLog(path, lambda: 8)
    log.write(Record(event="open", outcome="done"))
    log.close()
    assert verify(path) == 6


def test_nobody_writes_a_second_line_through_a_name(path: Path) -> None:
    """Abuse case 61."""
    log = AuditLog(path, lambda: 8)
    log.write(Record(event='a"}\n{"event":"forged"', outcome="\u2028\x00" + "x" * 9999))
    log.close()
    assert verify(path) == 6
    lines = list(lines_of(path))
    assert len(lines) == 6
    assert len(msgspec.json.decode(lines[-1], type=Line).outcome) == MAX_FIELD


def test_a_log_that_cannot_be_written_or_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        AuditLog(tmp_path / "no" / "audit.log", lambda: 1)
    with pytest.raises(StorageError):
        verify(tmp_path / "none.log")
    link = tmp_path / "link.log"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        AuditLog(link, lambda: 1)
