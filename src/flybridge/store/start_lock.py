"""A lock between gateways of one user that share no state directory.

It is held for as long as an agent takes to start, so that of two gateways that look for other
users of a conversation at the same time one looks a second time. The kernel holds it: it dies
with its holder.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from flybridge.errors import BusyError

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


def lock_folder(env: Mapping[str, str]) -> Path:
    """Where gateways of this user look, whatever their state directories are."""
    chosen = env.get("XDG_RUNTIME_DIR", "")
    if chosen.startswith("/") and Path(chosen).is_dir():
        return Path(chosen) / "flybridge"
    return Path("/tmp") / f"flybridge-{os.getuid()}"


def take_lock(folder: Path, name: str) -> Callable[[], None]:
    """Take the lock of that name; what comes back gives it free.

    Where there is no safe place for it there is no lock: it is only the second line of defence.

    Raises:
        BusyError: somebody else has it.
    """
    try:
        fd = _open(folder, name)
    except OSError:
        return lambda: None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise BusyError("another gateway is about to go on with it") from error
    return lambda: os.close(fd)


def _open(folder: Path, name: str) -> int:
    """A file in a folder that is this user's alone; somebody else could hold a lock for ever."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not ours alone")
    # a few files for all names there will ever be: one that is removed is no lock any more
    file = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:3]
    return os.open(folder / f"{file}.lock", _OPEN, 0o600)
