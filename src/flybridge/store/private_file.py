"""A small file that is one user's alone: read with suspicion, replaced whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.store.ballast import disk_error
from flybridge.store.barrier import sync_folder

MAX_BYTES = 16 << 20


class HasVersion(Protocol):
    """What a file of ours is read into."""

    @property
    def version(self) -> int: ...


Versioned = TypeVar("Versioned", bound=HasVersion)


def read_private(path: Path) -> bytes | None:
    """The file's bytes; None where there is none.

    Raises:
        StorageError: it is a link, somebody else's, open to others, or too big to be ours.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path} cannot be used: {error.strerror}") from error
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise StorageError(f"{path} is not a file; move it away")
        if found.st_uid != os.geteuid():
            raise StorageError(f"{path} belongs to user {found.st_uid}, not to you; move it away")
        if found.st_mode & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            raise StorageError(f"{path} is open to others (mode {mode:04o}); run: chmod 600 {path}")
        if found.st_size > MAX_BYTES:
            raise StorageError(f"{path} is longer than {MAX_BYTES} bytes")
        with os.fdopen(os.dup(fd), "rb") as file:
            return file.read(MAX_BYTES)
    finally:
        os.close(fd)


def read_versioned(path: Path, kind: type[Versioned], version: int) -> Versioned:
    """What the file holds, of the one version we know; nothing where there is none.

    Raises:
        StorageError: somebody else could have written or read it.
        StorageCorruptError: it is not ours to read.
    """
    data = read_private(path)
    if data is None:
        return kind()
    try:
        found = msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise StorageCorruptError(f"{path} cannot be read: {error}") from error
    if found.version != version:
        raise StorageCorruptError(f"{path} is of another version: {found.version}")
    return found


def write_private(path: Path, data: bytes) -> None:
    """Replace the file as a whole; when this returns, a power cut does not undo it.

    Raises:
        StorageError: the disk refused; the old file is still there.
    """
    new = path.with_name(f".{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise disk_error(error, path) from error
