"""Space held back for the day the disk is full.

A file of real blocks that holds nothing. It is given up so that an interrupt, a denial or a
kill can still be recorded when nothing else fits; it is taken again before work goes on.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from flybridge.errors import StorageError, StorageFullError

BALLAST_BYTES = 16 * 2**20
_FULL = (errno.ENOSPC, errno.EDQUOT)
_CHUNK = bytes(2**20)


def disk_error(error: OSError, path: Path) -> StorageError:
    """Say what the disk said, as one of ours."""
    kind = StorageFullError if error.errno in _FULL else StorageError
    return kind(f"{path}: {error.strerror or error}")


class Ballast:
    """``size`` bytes of disk beside the journal; 0: none is held."""

    def __init__(self, path: Path, size: int = BALLAST_BYTES) -> None:
        self.path = path
        self.size = size

    @property
    def held(self) -> bool:
        """Whether the space is there to be given up."""
        return self.size > 0 and self.path.exists()

    def restore(self) -> None:
        """Take the space again; nothing changes if it is held already.

        Raises:
            StorageFullError: there is not enough of it yet.
        """
        if self.size == 0 or (self.held and self.path.stat().st_size == self.size):
            return
        try:
            self._fill()
        except OSError as error:
            self.release()
            raise disk_error(error, self.path) from error

    def release(self) -> bool:
        """Give the space up; False if there was none to give."""
        try:
            self.path.unlink()
        except OSError:  # not there, or the disk is past helping: there is nothing to give
            return False
        return True

    def _fill(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(self.path, flags, 0o600)
        try:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, self.size)
            else:  # macOS: a hole would hold nothing back
                for at in range(0, self.size, len(_CHUNK)):
                    os.pwrite(fd, _CHUNK[: self.size - at], at)
            os.ftruncate(fd, self.size)  # a longer one is left from another setting
        finally:
            os.close(fd)
