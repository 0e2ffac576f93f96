"""The file of CI keys. It holds digests only, so it can be copied into an image for CI."""

from __future__ import annotations

from pathlib import Path

import msgspec

from flybridge.model.ci_key import CiKey
from flybridge.store.private_file import read_versioned, write_private

VERSION = 1


class CiKeysOnDisk(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in the file."""

    version: int = VERSION
    keys: tuple[CiKey, ...] = ()


class CiKeyFile:
    """The file ``ci-keys`` in the state directory. It is read once, when the gateway starts."""

    def __init__(self, path: Path) -> None:
        """Read the file.

        Raises:
            StorageError: somebody else could have written or read it.
            StorageCorruptError: it is not ours to read.
        """
        self._path = path
        self._keys = read_versioned(path, CiKeysOnDisk, VERSION).keys

    def all(self) -> tuple[CiKey, ...]:
        return self._keys

    def replace(self, keys: tuple[CiKey, ...]) -> None:
        """Store these keys instead of the old ones.

        Raises:
            StorageError: the disk refused; the old ones hold.
        """
        stored = CiKeysOnDisk(keys=keys)
        write_private(self._path, msgspec.json.format(msgspec.json.encode(stored)))
        self._keys = keys
