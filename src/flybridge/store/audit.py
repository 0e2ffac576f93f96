"""The audit log: who did what, and who was refused, one JSON object a line, hash-chained.

Each record names the hash of the one before it, and a small file beside the log, the head, holds
the number and the hash of the last, so that a record that was changed, taken out or cut off is
found. The head is there before the first record, so a missing head is a finding, too. What is
missing when the log is opened is written into it as a record of its own, and stays found. Two
things are not found: records that were cut off before the head was saved again, and a head that
was rewritten with the log. Whoever can write these files can write a new chain.
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
GAP = "audit.gap"  # the event of a record that says what was missing when the log was opened


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

    def __init__(self, path: Path, now_ms: Callable[[], int], *, known: bool = False) -> None:
        """Open the log, or begin it. ``known``: there has been one here before."""
        self._path = path
        self._now_ms = now_ms
        self._n, self._last = 0, START
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(path, flags, 0o600)
            self._resume()
            gap = _gap(path, self._n, known=known)
        except OSError as error:
            raise disk_error(error, path) from error
        except StorageError:
            os.close(self._fd)
            raise
        if gap:
            self.write(Record(event=GAP, outcome="found", detail=gap))
        if gap or not self._n:
            self.save_head()()

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
        fd = os.dup(self._fd)

        def save() -> None:
            try:
                os.fsync(fd)  # a power cut must not leave a head without its records
            except OSError as error:
                raise disk_error(error, self._path) from error
            finally:
                os.close(fd)
            write_private(head_of(self._path), head)

        return save

    def close(self) -> None:
        try:
            self.save_head()()
        except StorageError:
            pass  # the chain itself is whole
        os.close(self._fd)


def head_of(path: Path) -> Path:
    """Return the file that holds the end of a log."""
    return path.with_suffix(".head")


def missing(path: Path, *, known: bool) -> str:
    """Return why a log that is not there should be there, or an empty string."""
    name, head = path.name, head_of(path)
    if head.exists():
        return f"{name} is missing but {head.name} exists: records were deleted."
    return f"{name} is missing but records were written here: they were deleted." if known else ""


def _gap(path: Path, n: int, *, known: bool) -> str:
    """Return what is missing of a log with ``n`` records, in one sentence."""
    head = read_private(head_of(path))
    if head is None:
        if n:
            return _without_head(path, n)
        return missing(path, known=known)
    try:
        found = _compare(n, path, head)
    except StorageCorruptError as error:
        return str(error)
    if isinstance(found, Bad) and not n:
        name = head_of(path).name
        return f"{path.name} was missing or empty but {name} exists: records were deleted."
    return f"record {found.n} {found.why}" if isinstance(found, Bad) else ""


def _without_head(path: Path, n: int) -> str:
    name = head_of(path).name
    return f"{name} is missing but {path.name} has {n} records: others may have been deleted."


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
            if found.event == GAP:
                return Bad(found.n, f"found this when the log was opened: {found.detail}")
            n, last = found.n, found.hash
        head = read_private(head_of(path))
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
    if head is None:
        return Bad(n + 1, f"may be gone: {_without_head(path, n)}") if n else n
    return _compare(n, path, head)


def _compare(n: int, path: Path, head: bytes) -> Bad | int:
    """The head may lag behind, after a crash; the log may not."""
    try:
        noted, digest = head.decode().split()
        at = int(noted)
    except (ValueError, UnicodeDecodeError):
        raise StorageCorruptError(f"{head_of(path)} cannot be read") from None
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
