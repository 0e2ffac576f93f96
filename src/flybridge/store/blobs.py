"""Blobs in files: bytes named by their SHA-256, written once, never changed."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator, Set
from pathlib import Path

from flybridge.errors import InvalidRequestError, LocalProtocolError
from flybridge.store.ballast import disk_error
from flybridge.store.barrier import sync_file, sync_folder
from flybridge.store.rules import check_digest, check_range

GRACE_S = 3600.0


class FileBlobs:
    """A :class:`~flybridge.session.ports.Blobs` in a folder: ``ab/cd/abcd…``.

    A blob that ``put`` has returned for survives a power cut: an event that names it may be
    committed. A blob that is there is whole. Everything blocks: big ones belong in a thread,
    any number of which may use one object.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._incoming = self._folder / "incoming"
        try:
            self._incoming.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
        except OSError as error:
            raise disk_error(error, self._folder) from error

    def put(self, digest: str, data: bytes) -> None:
        """Keep ``data``; nothing changes if it is there already.

        Raises:
            LocalProtocolError: ``digest`` is not its digest.
            StorageError: the disk refused; nothing is there under that name.
        """
        path = self._path(digest)
        if hashlib.sha256(data).hexdigest() != digest:
            raise LocalProtocolError(f"blob {digest} is not what its name says")
        try:
            if self._touch(path, len(data)):
                return
            self._make_folders(path)
            self._write(path, data)
        except OSError as error:
            raise disk_error(error, path) from error

    def get(self, digest: str, start: int = 0, size: int = -1) -> bytes:
        """Return up to ``size`` bytes from ``start`` on (-1: all of them).

        Raises:
            InvalidRequestError: no such blob, or no such range.
        """
        path = self._path(digest)
        check_range(start, size)
        try:
            with path.open("rb") as file:
                file.seek(start)
                return file.read(size)
        except FileNotFoundError:
            raise InvalidRequestError(f"no blob {digest}") from None
        except OSError as error:
            raise disk_error(error, path) from error

    def size(self, digest: str) -> int | None:
        """Return how many bytes it has; None: it is not here."""
        path = self._path(digest)
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return None
        except OSError as error:
            raise disk_error(error, path) from error

    def sweep(self, keep: Set[str], *, grace_s: float = GRACE_S) -> int:
        """Delete what nobody names, and return how many blobs that were.

        What was put in the last hour stays: the event that names it may be on its way.
        """
        before = time.time() - grace_s
        gone = 0
        try:
            for path in list(self._incoming.iterdir()):
                self._remove(path, before)
            for path in self._all():
                if path.name not in keep:
                    gone += self._remove(path, before)
        except OSError as error:
            raise disk_error(error, self._folder) from error
        return gone

    def _path(self, digest: str) -> Path:
        check_digest(digest)
        return self._folder / digest[:2] / digest[2:4] / digest

    def _all(self) -> Iterator[Path]:
        for path in self._folder.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*"):
            if len(path.name) == 64:  # what else may lie there is not ours to delete
                yield path

    def _touch(self, path: Path, size: int) -> bool:
        """Use what is there, as young as if it had just come, so that no sweep takes it."""
        try:
            if path.stat().st_size != size:
                return False  # cut by something else than us: write it again
            os.utime(path)
        except FileNotFoundError:
            return False
        return True

    def _make_folders(self, path: Path) -> None:
        for folder in (path.parent.parent, path.parent):
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            sync_folder(folder.parent)

    def _write(self, path: Path, data: bytes) -> None:
        fd, name = tempfile.mkstemp(dir=self._incoming)  # 0600
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                sync_file(file.fileno())
            Path(name).rename(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)

    def _remove(self, path: Path, before: float) -> int:
        try:
            if path.stat().st_mtime >= before:
                return 0
            path.unlink()
        except FileNotFoundError:  # somebody else swept it
            return 0
        return 1
