"""Folders a person trusts: agents may take settings, hooks and servers from them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flybridge.errors import StorageCorruptError
from flybridge.store.private_file import read_private, write_private

MAX_FOLDERS = 4096


class TrustedFolders:
    """The file ``trusted`` in the state directory. What is trusted is a folder and all in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        data = read_private(path)
        try:
            self._folders = msgspec.json.decode(data, type=list[str]) if data else []
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise StorageCorruptError(f"{path} cannot be read: {error}") from error

    def holds(self, folder: Path) -> bool:
        """Whether this folder, or one that it is in, is trusted."""
        known = set(self._folders)
        return any(str(one) in known for one in (folder, *folder.parents))

    def add(self, folder: Path) -> None:
        """Trust a folder; the oldest is forgotten when there are too many.

        Raises:
            StorageError: the disk refused; it is not trusted.
        """
        if self.holds(folder):
            return
        folders = [*self._folders, str(folder)][-MAX_FOLDERS:]
        write_private(self._path, msgspec.json.format(msgspec.json.encode(folders)))
        self._folders = folders

    def remove(self, folder: Path) -> bool:
        """Trust it no more; False where it was not trusted by its own name."""
        if str(folder) not in self._folders:
            return False
        folders = [one for one in self._folders if one != str(folder)]
        write_private(self._path, msgspec.json.format(msgspec.json.encode(folders)))
        self._folders = folders
        return True

    def all(self) -> list[str]:
        return list(self._folders)
