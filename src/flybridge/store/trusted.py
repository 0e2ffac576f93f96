"""Folders a person trusts: agents may take settings, hooks and servers from them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flybridge.errors import StorageCorruptError, StorageError
from flybridge.store.private_file import read_private, write_private

MAX_FOLDERS = 4096


class TrustedFolders:
    """The file ``trusted`` in the state directory. What is trusted is a folder and all in it.

    Folders are kept and compared with every link and ``..`` in their paths resolved. Entries of
    older versions, which kept the path as it was given, are resolved once and written back: from
    then on a link that is changed leads to no trust.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        data = read_private(path)
        try:
            given = msgspec.json.decode(data, type=list[str]) if data else []
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StorageCorruptError(f"{path} cannot be read: {error}") from error
        self._folders = list(dict.fromkeys(str(_resolved(Path(folder))) for folder in given))
        if self._folders != given:
            try:
                self._write(self._folders)
            except StorageError:
                pass  # the resolved form holds in memory; the next start tries again

    def holds(self, folder: Path) -> bool:
        """Return whether this folder, or one that it is in, is trusted. Blocking, but short."""
        known = set(self._folders)
        real = _resolved(folder)
        return any(str(above) in known for above in (real, *real.parents))

    def add(self, folder: Path) -> None:
        """Trust a folder; the oldest is forgotten when there are too many.

        Raises:
            StorageError: the disk refused; it is not trusted.
        """
        if self.holds(folder):
            return
        self._write([*self._folders, str(_resolved(folder))][-MAX_FOLDERS:])

    def remove(self, folder: Path) -> bool:
        """Trust it no more; False where it was not trusted by its own name."""
        names = {str(folder), str(_resolved(folder))}
        if not names.intersection(self._folders):
            return False
        self._write([known for known in self._folders if known not in names])
        return True

    def all(self) -> list[str]:
        return list(self._folders)

    def _write(self, folders: list[str]) -> None:
        write_private(self._path, msgspec.json.format(msgspec.json.encode(folders)))
        self._folders = folders


def _resolved(folder: Path) -> Path:
    """Return the folder as the kernel would reach it; what does not exist counts as written."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL: no trust either way
        return folder
