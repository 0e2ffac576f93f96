"""The audit log: who did what, and who was refused, one JSON object a line, hash-chained.

Each record names the hash of the one before it, and a small file beside the log holds the hash
of the last, so that a record that was changed, taken out or cut off is found. It keeps honest
people honest: whoever can write these files can write a new chain.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.model.audit import Record
from flybridge.store.ballast import disk_error
from flybridge.store.private_file import read_private, write_private

START = "0" * 64
MAX_LINE = 64 * 1024
MAX_FIELD = 512


class Line(Record, frozen=True, kw_only=True, omit_defaults=True):
    """A record in its place."""

    n: int
    at_ms: int
    prev: str
    hash: str = ""


class Bad(msgspec.Struct, frozen=True):
    """The first record that is not what it was."""

    n: int
    why: str


class AuditLog:
    """Appends to ``audit.log``. Blocking, but short: one small write for each record."""

    def __init__(self, path: Path, now_ms: Callable[[], int]) -> None:
        self._path = path
        self._now_ms = now_ms
        self._n, self._last = 0, START
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(path, flags, 0o600)
            self._resume()
        except OSError as error:
            raise disk_error(error, path) from error

    def _resume(self) -> None:
        """Go on after the last record. Half a line is what a power cut left of one."""
        whole = 0
        for line in lines_of(self._path):
            if not line.endswith(b"\n"):
                os.ftruncate(self._fd, whole)
                return
            whole += len(line)
            found = decoded(line)
            if found is not None:
                self._n, self._last = found.n, found.hash

    def write(self, record: Record) -> None:
        """Append one record.

        Raises:
            StorageError: the disk refused.
        """
        fields = {name: value[:MAX_FIELD] for name, value in msgspec.structs.asdict(record).items()}
        line = Line(n=self._n + 1, at_ms=self._now_ms(), prev=self._last, **fields)
        digest = hash_of(line)
        data = msgspec.json.encode(msgspec.structs.replace(line, hash=digest)) + b"\n"
        try:
            os.write(self._fd, data)
        except OSError as error:
            raise disk_error(error, self._path) from error
        self._n, self._last = line.n, digest

    def save_head(self) -> Callable[[], None]:
        """Note where the log ends, so that a cut is found. What comes back does the writing,
        which may take a moment: in a thread, if that matters."""
        head = f"{self._n} {self._last}\n".encode()
        return lambda: write_private(self._path.with_suffix(".head"), head)

    def close(self) -> None:
        try:
            self.save_head()()
        except StorageError:
            pass  # the chain itself is whole
        os.close(self._fd)


def hash_of(line: Line) -> str:
    """The hash of everything in a record but the hash itself, the hash before it included."""
    return hashlib.sha256(
        msgspec.json.encode(msgspec.structs.replace(line, hash=""), order="sorted")
    ).hexdigest()


def lines_of(path: Path) -> Iterator[bytes]:
    """The log's lines, one at a time, none longer than ours are."""
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE):
            yield line


def verify(path: Path) -> Bad | int:
    """How many records there are, or the first that was changed, taken out or cut off.

    Raises:
        StorageError: the log cannot be read.
    """
    n, last = 0, START
    try:
        for line in lines_of(path):
            found = decoded(line)
            if found is None:
                return Bad(n + 1, "not a record")
            if found.n != n + 1 or found.prev != last:
                return Bad(n + 1, "does not follow the one before it")
            if found.hash != hash_of(found):
                return Bad(n + 1, "was changed")
            n, last = found.n, found.hash
        head = read_private(path.with_suffix(".head"))
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
    return _compare(n, path, head) if head else n


def _compare(n: int, path: Path, head: bytes) -> Bad | int:
    """The head may lag behind, after a crash; the log may not."""
    try:
        noted, digest = head.decode().split()
        at = int(noted)
    except (ValueError, UnicodeDecodeError):
        raise StorageCorruptError(f"{path.with_suffix('.head')} cannot be read") from None
    if at > n:
        return Bad(n + 1, "was cut off")
    for line in lines_of(path) if at else ():
        found = decoded(line)
        if found is not None and found.n == at:
            return n if found.hash == digest else Bad(at, "is not the one that was written")
    return n


def decoded(line: bytes) -> Line | None:
    """A record, if that is one."""
    try:
        return msgspec.json.decode(line, type=Line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
