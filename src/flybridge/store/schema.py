"""The journal's tables, and the way from each older form of them to the present one.

Columns are what is searched by; the rest of a row is its struct as JSON, so that a new field
with a default needs no migration.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from flybridge.errors import StorageCorruptError, StorageVersionError
from flybridge.store.barrier import sync_file, sync_folder
from flybridge.store.database import verify

Migration: TypeAlias = Callable[[sqlite3.Connection], None]

# batches: in the order of arrival, found through its index. Clustered by session, each flush
# would touch one leaf page per session (measured: half the speed).
_FIRST = (
    """CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID""",
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL,
        last_seq INTEGER NOT NULL, changed_ms INTEGER NOT NULL, finished INTEGER NOT NULL,
        body BLOB NOT NULL) STRICT""",
    """CREATE TABLE batches (
        id INTEGER PRIMARY KEY, session TEXT NOT NULL, epoch INTEGER NOT NULL,
        first_seq INTEGER NOT NULL, count INTEGER NOT NULL, crc INTEGER NOT NULL,
        wire BLOB NOT NULL) STRICT""",
    """CREATE UNIQUE INDEX batches_by_seq ON batches (session, first_seq)""",
    """CREATE TABLE inputs (
        session TEXT NOT NULL, key TEXT NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (session, key)) STRICT, WITHOUT ROWID""",
    """CREATE TABLE outbox (
        session TEXT NOT NULL, number INTEGER NOT NULL, key TEXT, on_restart TEXT NOT NULL,
        data BLOB NOT NULL, PRIMARY KEY (session, number)) STRICT""",
    """CREATE TABLE places (
        session TEXT PRIMARY KEY, incarnation TEXT NOT NULL, out_offset INTEGER NOT NULL,
        memo BLOB NOT NULL) STRICT""",
    """CREATE TABLE drafts (
        id INTEGER PRIMARY KEY, session TEXT NOT NULL, item TEXT NOT NULL,
        count INTEGER NOT NULL, text BLOB NOT NULL, UNIQUE (session, item)) STRICT""",
    """CREATE TABLE incarnations (
        id INTEGER PRIMARY KEY, session TEXT NOT NULL, incarnation TEXT NOT NULL,
        state TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (session, incarnation)) STRICT""",
    """CREATE INDEX incarnations_live ON incarnations (session) WHERE state != 'ended'""",
    """CREATE TABLE snapshots (
        session TEXT PRIMARY KEY, seq INTEGER NOT NULL, state BLOB NOT NULL) STRICT""",
)


def _first(connection: sqlite3.Connection) -> None:
    for statement in _FIRST:
        connection.execute(statement)


# The n-th makes version n of version n - 1. Append; never edit what was released.
MIGRATIONS: Sequence[Migration] = (_first,)


def get_meta(connection: sqlite3.Connection, name: str, default: int | str) -> int | str:
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return default if row is None else row[0]


def put_meta(connection: sqlite3.Connection, name: str, value: int | str | bytes) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


def build(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Make the tables in an empty database."""
    _migrate(connection, 0, migrations)


def upgrade(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring the file to this version, in one transaction, after a copy of it was put aside.

    Raises:
        StorageVersionError: a newer Flybridge wrote it.
        StorageCorruptError: it holds no journal, or a damaged one.
    """
    found = _version(connection, path)
    if found == len(migrations):
        return
    if found > len(migrations):
        raise StorageVersionError(
            f"{path}: written by a newer Flybridge (journal version {found}; "
            f"this one reads up to {len(migrations)})"
        )
    verify(connection, path)
    _put_aside(connection, path.with_name(f"{path.name}.v{found}.bak"))
    _migrate(connection, found, migrations)


def _version(connection: sqlite3.Connection, path: Path) -> int:
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'")
    if tables.fetchone() == (0,):
        raise StorageCorruptError(f"{path}: holds no journal")
    version = get_meta(connection, "schema", 0)
    if not isinstance(version, int) or version < 1:
        raise StorageCorruptError(f"{path}: has no version")
    return version


def _migrate(connection: sqlite3.Connection, found: int, migrations: Sequence[Migration]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for migration in migrations[found:]:
            migration(connection)
        put_meta(connection, "schema", len(migrations))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _put_aside(connection: sqlite3.Connection, copy: Path) -> None:
    unborn = copy.with_name(copy.name + ".new")
    unborn.unlink(missing_ok=True)
    fd = os.open(unborn, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        connection.execute("VACUUM INTO ?", (str(unborn),))  # takes an empty file as it is
        sync_file(fd)
    finally:
        os.close(fd)
    unborn.rename(copy)
    sync_folder(copy.parent)
