from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from flybridge.errors import StorageError
from flybridge.model.audit import Record
from flybridge.store.audit import (
    MAX_FIELD,
    AuditLog,
    Bad,
    Line,
    head_of,
    lines_of,
    missing,
    verify,
)


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
    path.touch(0o600)
    head = path.with_suffix(".head").read_bytes()
    log = AuditLog(path, lambda: 9)
    for _ in range(4):
        log.write(Record(event="x", outcome="done"))
    path.with_suffix(".head").write_bytes(head)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    found = verify(path)
    assert isinstance(found, Bad)
    assert (found.n, "records were deleted" in found.why) == (1, True)
    log.close()
    assert isinstance(verify(path), Bad), "a gateway that starts hides nothing"


def test_c07_a_log_without_its_head_is_found(path: Path) -> None:
    head = path.with_suffix(".head")
    lines = path.read_bytes().splitlines(keepends=True)
    head.unlink()
    path.write_bytes(b"".join(lines[:2]))
    found = verify(path)
    assert isinstance(found, Bad)
    assert "audit.head is missing but audit.log has 2 records" in found.why
    AuditLog(path, lambda: 9).close()
    found = verify(path)
    assert isinstance(found, Bad), "and still after the next start"
    assert (found.n, "audit.head is missing" in found.why) == (3, True)


def test_c07_records_that_were_cut_off_stay_found_after_the_next_start(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    log = AuditLog(path, lambda: 9)
    for _ in range(5):
        log.write(Record(event="x", outcome="done"))
    log.close()
    assert verify(path) == Bad(4, "found this when the log was opened: record 4 was cut off")


@pytest.mark.parametrize("with_head", [True, False])
def test_c07_a_log_that_is_gone_is_missed(path: Path, with_head: bool) -> None:
    path.unlink()
    if not with_head:
        path.with_suffix(".head").unlink()
    assert "records were" in missing(path, known=True)
    assert bool(missing(path, known=False)) is with_head
    AuditLog(path, lambda: 9, known=True).close()
    found = verify(path)
    assert isinstance(found, Bad)
    assert (found.n, "deleted" in found.why) == (1, True)


def test_a_new_log_has_a_head_before_its_first_record(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "new.log", lambda: 1)
    assert head_of(tmp_path / "new.log").read_text().split()[0] == "0"
    log.write(Record(event="x", outcome="done"))
    assert verify(tmp_path / "new.log") == 1
    log.close()


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
