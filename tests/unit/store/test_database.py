from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError, StorageError, StorageFullError
from flybridge.store import database


def fill(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE t (x)")
    connection.executemany("INSERT INTO t VALUES (?)", [(b"x" * 500,) for _ in range(200)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def test_a_new_database_is_whole_and_only_ours(path: Path) -> None:
    (path.parent / "journal.db.new").write_bytes(b"half of an earlier try")
    database.create(path, fill)
    assert [one.name for one in path.parent.iterdir()] == ["journal.db"]
    assert path.stat().st_mode & 0o777 == 0o600
    connection = database.connect(path)
    database.verify(connection, path)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (200,)
    wal = path.with_name("journal.db-wal").stat()
    assert wal.st_mode & 0o777 == 0o600
    connection.close()


def test_one_that_could_not_be_filled_is_not_there(path: Path) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("NONSENSE")

    with pytest.raises(StorageError, match="NONSENSE"):
        database.create(path, fail)
    assert not path.exists()


def test_a_log_without_its_database_is_not_taken_for_a_new_start(path: Path) -> None:
    path.with_name("journal.db-wal").write_bytes(b"all that is left")
    with pytest.raises(StorageCorruptError, match="missing"):
        database.create(path, fill)


def test_a_file_that_is_not_there_is_not_made_by_opening_it(path: Path) -> None:
    with pytest.raises(StorageError, match="unable to open"):
        database.connect(path)
    assert not path.exists()


def test_names_with_odd_characters_are_opened(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=memory#b%20c.db"
    database.create(path, fill)
    connection = database.connect(path)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (200,)
    connection.close()


def test_what_is_no_database_is_refused_by_name(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 500)
    with pytest.raises(StorageCorruptError, match=r"journal\.db"):
        database.connect(path)


def test_a_database_is_held_by_one_process(path: Path) -> None:
    database.create(path, fill)
    connection = database.connect(path)
    connection.execute("SELECT count(*) FROM t").fetchone()
    other = subprocess.run(
        [sys.executable, "-c", _OPEN, str(path)], capture_output=True, text=True, timeout=30
    )
    assert "in use by another process" in other.stdout
    connection.close()


_OPEN = """
import sys
from pathlib import Path
from flybridge.errors import StorageError
from flybridge.store import database
try:
    database.connect(Path(sys.argv[1]))
except StorageError as error:
    print(error)
"""


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_folder_that_others_may_enter_is_refused(path: Path, mode: int) -> None:
    path.parent.chmod(mode)
    with pytest.raises(StorageError, match="chmod 700"):
        database.guard(path)
    path.parent.chmod(0o700)
    database.guard(path)


def test_a_link_a_folder_and_nothing_are_not_a_file(path: Path) -> None:
    path.symlink_to("elsewhere")
    with pytest.raises(StorageError, match="plain file"):
        database.guard(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(StorageError, match="plain file"):
        database.guard(path)
    with pytest.raises(StorageError, match="No such"):
        database.guard(path.parent / "none" / "journal.db")


def test_a_file_that_others_may_read_is_closed_to_them(path: Path) -> None:
    path.write_bytes(bytes(4096))
    path.chmod(0o644)
    database.guard(path)
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.needs("root")
def test_somebody_elses_file_or_folder_is_refused(path: Path) -> None:
    path.write_bytes(b"")
    os.chown(path, 12345, 12345)
    with pytest.raises(StorageError, match="another user"):
        database.guard(path)
    os.chown(path.parent, 12345, 12345)
    with pytest.raises(StorageError, match="another user"):
        database.guard(path)


@pytest.mark.parametrize(("size", "logged"), [(0, True), (511, True), (4095, False)])
def test_a_file_that_is_plainly_cut_is_refused(path: Path, size: int, logged: bool) -> None:
    path.write_bytes(bytes(size))
    if logged:
        path.with_name("journal.db-wal").write_bytes(b"")
    with pytest.raises(StorageCorruptError, match=f"after {size} bytes"):
        database.guard(path)


def test_an_odd_end_is_normal_while_there_is_a_log(path: Path) -> None:
    path.write_bytes(bytes(5000))
    path.with_name("journal.db-wal").write_bytes(b"")
    database.guard(path)


def test_damage_inside_is_found_and_named(path: Path) -> None:
    database.create(path, fill)
    data = bytearray(path.read_bytes())
    data[2 * 4096 : 3 * 4096] = bytes(4096)
    path.write_bytes(data)
    connection = database.connect(path)
    with pytest.raises(StorageCorruptError, match=r"journal\.db"):
        database.verify(connection, path)
    connection.close()


def test_what_sqlite_says_becomes_one_of_ours(path: Path) -> None:
    def said(code: int) -> StorageError:
        error = sqlite3.OperationalError("so it is")
        error.sqlite_errorcode = code
        return database.storage_error(error, path)

    assert type(said(sqlite3.SQLITE_FULL)) is StorageFullError
    assert type(said(sqlite3.SQLITE_CORRUPT_INDEX)) is StorageCorruptError
    assert type(said(sqlite3.SQLITE_NOTADB)) is StorageCorruptError
    assert type(said(sqlite3.SQLITE_IOERR_WRITE)) is StorageError
    assert "another process" in str(said(sqlite3.SQLITE_BUSY))
    assert type(database.storage_error(OSError(28, "full"), path)) is StorageFullError
    unreadable = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")
    assert type(database.storage_error(unreadable, path)) is StorageCorruptError
    assert "so it is" in str(database.storage_error(sqlite3.ProgrammingError("so it is"), path))


def test_forgetting_what_is_cached_changes_nothing(path: Path) -> None:
    database.create(path, fill)
    before = path.read_bytes()
    database.forget_cached(path)
    assert path.read_bytes() == before
    database.forget_cached(path.with_name("none"))
