from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from flybridge.errors import StorageCorruptError, StorageVersionError
from flybridge.store import database, schema


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    database.create(path, schema.build)
    return path


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = database.connect(path)
    yield connection
    connection.close()


def add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'")


def add_a_row_and_fail(connection: sqlite3.Connection) -> None:
    schema.put_meta(connection, "half", 1)
    connection.execute("NONSENSE")


NEXT = (*schema.MIGRATIONS, add_colour)


def columns(connection: sqlite3.Connection) -> list[str]:
    return [row[1] for row in connection.execute("PRAGMA table_info(sessions)")]


def test_a_new_journal_is_of_the_present_version(
    connection: sqlite3.Connection, path: Path
) -> None:
    assert schema.get_meta(connection, "schema", 0) == len(schema.MIGRATIONS)
    schema.upgrade(connection, path)
    assert [one.name for one in path.parent.glob("*.bak")] == []


def test_meta_keeps_the_last_value(connection: sqlite3.Connection) -> None:
    assert schema.get_meta(connection, "none", "default") == "default"
    for value in (1, "text", 2):
        schema.put_meta(connection, "name", value)
        assert schema.get_meta(connection, "name", 0) == value


def test_an_older_journal_is_brought_up_to_date_after_a_copy(
    connection: sqlite3.Connection, path: Path
) -> None:
    schema.put_meta(connection, "boot", "kept")
    copy = path.with_name("journal.db.v1.bak")
    copy.write_bytes(b"left by an earlier try")
    schema.upgrade(connection, path, NEXT)
    assert schema.get_meta(connection, "schema", 0) == 2
    assert "colour" in columns(connection)
    assert copy.stat().st_mode & 0o777 == 0o600
    old = database.connect(copy)
    assert schema.get_meta(old, "schema", 0) == 1
    assert schema.get_meta(old, "boot", "") == "kept"
    assert "colour" not in columns(old)
    old.close()


def test_several_versions_are_one_step_and_a_failed_one_changes_nothing(
    connection: sqlite3.Connection, path: Path
) -> None:
    with pytest.raises(sqlite3.OperationalError):
        schema.upgrade(connection, path, (*NEXT, add_a_row_and_fail))
    assert schema.get_meta(connection, "schema", 0) == 1
    assert schema.get_meta(connection, "half", 0) == 0
    assert "colour" not in columns(connection)
    schema.upgrade(connection, path, NEXT)
    assert schema.get_meta(connection, "schema", 0) == 2


def test_a_newer_journal_is_refused_with_both_numbers(
    connection: sqlite3.Connection, path: Path
) -> None:
    schema.upgrade(connection, path, NEXT)
    with pytest.raises(StorageVersionError, match=r"journal version 2; this one reads up to 1"):
        schema.upgrade(connection, path)


def test_a_damaged_journal_is_not_migrated(connection: sqlite3.Connection, path: Path) -> None:
    connection.executemany(
        "INSERT INTO snapshots VALUES (?, 1, ?)", [(f"ses_{n}", b"x" * 500) for n in range(50)]
    )
    connection.close()
    data = bytearray(path.read_bytes())
    data[-4096:] = bytes(4096)
    path.write_bytes(data)
    damaged = database.connect(path)
    with pytest.raises(StorageCorruptError):
        schema.upgrade(damaged, path, NEXT)
    assert list(path.parent.glob("*.bak*")) == []
    damaged.close()


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE meta",
        "DELETE FROM meta",
        "UPDATE meta SET value = 'x'",
        "UPDATE meta SET value=0",
    ],
)
def test_what_holds_no_journal_is_not_taken_for_one(
    connection: sqlite3.Connection, path: Path, damage: str
) -> None:
    connection.execute(damage)
    with pytest.raises(StorageCorruptError, match=r"journal\.db"):
        schema.upgrade(connection, path)
