"""A SQLite file of our own: whose it may be, how it comes to be, how it is opened and checked."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Callable
from pathlib import Path

from flybridge.errors import StorageCorruptError, StorageError, StorageFullError
from flybridge.store.ballast import disk_error
from flybridge.store.barrier import sync_folder

OLDEST_SQLITE = (3, 37, 0)  # STRICT tables

# Versions before 3.51.3 can corrupt a write-ahead log when several connections write and
# checkpoint at once. We have one connection, and the exclusive lock keeps it that way for
# other processes too (it also saves every lock call of every transaction, a fifth of a commit).
_PRAGMAS = (
    "locking_mode = EXCLUSIVE",
    "journal_mode = WAL",
    "synchronous = NORMAL",  # barrier() adds what FULL would
    "wal_autocheckpoint = 256",
    "journal_size_limit = 16777216",
    "secure_delete = ON",  # what is deleted is gone, not waiting in a free page
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "temp_store = MEMORY",
)
_PAGE_BYTES = 512  # the smallest there is
_DARWIN = ("fullfsync = ON", "checkpoint_fullfsync = ON")


# What SQLite and the disk under it raise. A message with a piece of a damaged file in it may
# not even be text.
TROUBLE = (sqlite3.Error, UnicodeDecodeError, OSError)


def storage_error(error: BaseException, path: Path) -> StorageError:
    """Say what SQLite or the disk said, as one of ours."""
    if isinstance(error, OSError):
        return disk_error(error, path)
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without its extension
    if code == sqlite3.SQLITE_FULL:
        return StorageFullError(f"{path}: {error}")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StorageCorruptError(f"{path}: {error}")
    if isinstance(error, UnicodeDecodeError):
        return StorageCorruptError(f"{path}: damaged text")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StorageError(f"{path}: in use by another process")
    name = getattr(error, "sqlite_errorname", "")
    return StorageError(f"{path}: {error}{f' ({name})' if name else ''}")


def guard(path: Path) -> None:
    """Make sure that nobody but us can have put this file there, or can read it.

    Raises:
        StorageError: the folder is open to others, or the file is not an own, plain one.
        StorageCorruptError: it is plainly not whole.
    """
    try:
        folder = path.parent.stat()
    except OSError as error:
        raise disk_error(error, path.parent) from error
    if folder.st_uid != os.geteuid():
        raise StorageError(f"{path.parent}: belongs to another user")
    if folder.st_mode & 0o077:
        raise StorageError(f"{path.parent}: others may enter it; run chmod 700 on it")
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise StorageError(f"{path}: not a plain file")
    if found.st_uid != os.geteuid():
        raise StorageError(f"{path}: belongs to another user")
    if found.st_mode & 0o077:
        path.chmod(0o600)
    # a database is born whole (see create), and SQLite would take an empty file for a new one;
    # an odd end is normal only while the log still has what was being written there
    logged = path.with_name(path.name + "-wal").exists()
    if found.st_size < _PAGE_BYTES or (found.st_size % _PAGE_BYTES and not logged):
        raise StorageCorruptError(f"{path}: cut off after {found.st_size} bytes")


def create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Make a new database, whole or not at all: a file that is there is never half made.

    So an empty or cut file always means damage, and is refused instead of taken for new.

    Raises:
        StorageCorruptError: its log is still there, so somebody took the database away.
    """
    if path.with_name(path.name + "-wal").exists():
        raise StorageCorruptError(f"{path}: missing, but its write-ahead log is there")
    unborn = path.with_name(path.name + ".new")
    try:
        for left in (unborn, unborn.with_name(unborn.name + "-wal")):
            left.unlink(missing_ok=True)
        os.close(os.open(unborn, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = connect(unborn)
        try:
            fill(connection)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()
        unborn.rename(path)
        sync_folder(path.parent)
    except TROUBLE as error:
        raise storage_error(error, path) from error


def connect(path: Path) -> sqlite3.Connection:
    """Open an existing database, and hold it alone."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise StorageError(f"SQLite {sqlite3.sqlite_version} is too old: 3.37 or newer is needed")
    connection: sqlite3.Connection | None = None
    try:
        # mode=rw: a file that is gone is an error, not a new one; isolation_level None: we
        # say BEGIN and COMMIT ourselves
        place = f"{path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(place, uri=True, timeout=0, isolation_level=None)
        for pragma in (*_PRAGMAS, *(_DARWIN if sys.platform == "darwin" else ())):
            connection.execute(f"PRAGMA {pragma}")
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            raise StorageError(f"{path}: this file system cannot hold a write-ahead log")
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, TROUBLE):
            raise storage_error(error, path) from error
        raise
    return connection


def verify(connection: sqlite3.Connection, path: Path) -> None:
    """Walk the whole file once.

    Raises:
        StorageCorruptError: it is damaged; the message says where.
    """
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except TROUBLE as error:
        raise storage_error(error, path) from error
    if verdict != "ok":
        raise StorageCorruptError(f"{path}: {' '.join(verdict.split())}")


def forget_cached(path: Path) -> None:
    """Have the next reader see the disk and not the kernel's memory of it.

    After a failed write-back the memory may hold what the disk does not. Only for a file
    that no connection has open: closing ours would drop SQLite's locks on it.
    """
    if sys.platform == "darwin":
        return
    for one in (path, path.with_name(path.name + "-wal")):
        try:
            fd = os.open(one, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # opening the database will say it better
        try:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)
