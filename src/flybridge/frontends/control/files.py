"""Content by reference: a file below one folder, read once and never looked at again.

The path is walked a step at a time from an open folder, and no step follows a link, so what is
checked is what is read and what is read is what is sent.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from flybridge.frontends.control.refusals import ControlRefused, rejected
from flybridge.wire.control.messages import ContentRef

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_ref(base: Path, ref: ContentRef, tell: Callable[[int], None] = lambda done: None) -> str:
    """The text of the file. Blocks: it belongs into a thread, where ``tell`` is called, too, with
    the number of bytes so far.

    Raises:
        ControlRefused: it is not beneath ``base``, not a plain file of ours, or not what was
            said of it.
    """
    steps = _steps(base, ref.path)
    try:
        fd = _open(base, steps)
    except OSError:  # which step it was, and why, is nobody's business
        raise _unreadable() from None
    try:
        _check(os.fstat(fd), ref)
        data, digest = _read(fd, ref.size_bytes + 1, tell)
    except OSError:
        raise _unreadable() from None
    finally:
        os.close(fd)
    if len(data) != ref.size_bytes:
        raise rejected("ref_mismatch", "the file has another size than was said")
    if digest != ref.sha256:
        raise rejected("ref_mismatch", "the file has another sha256 than was said")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise rejected("unsupported_encoding", "the file is not utf-8") from None


def _steps(base: Path, path: str) -> list[str]:
    """The names from the base to the file; nothing is made plain that is not."""
    if "\0" in path:
        raise _outside()
    if path.startswith("/"):
        inside = f"{base}/"
        if not path.startswith(inside):
            raise _outside()
        path = path.removeprefix(inside)
    steps = path.split("/")
    if any(one in ("", ".", "..") for one in steps):
        raise _outside()
    return steps


def _open(base: Path, steps: list[str]) -> int:
    fd = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for number, name in enumerate(steps):
        try:
            last = number == len(steps) - 1
            below = os.open(name, _FILE if last else _FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def _check(found: os.stat_result, ref: ContentRef) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise rejected("ref_not_a_file", "only a plain file can be referred to")
    if found.st_uid != os.geteuid():
        raise rejected("ref_not_ours", "the file belongs to somebody else")
    if found.st_nlink == 0:  # it was replaced since it was opened: nobody means it any more
        raise _unreadable()
    if found.st_nlink != 1:
        raise rejected("ref_not_a_file", "the file has another name, too")
    if found.st_size != ref.size_bytes:
        raise rejected("ref_mismatch", "the file has another size than was said")


def _read(fd: int, limit: int, tell: Callable[[int], None]) -> tuple[bytes, str]:
    """The bytes, and the SHA-256 of those very bytes."""
    parts: list[bytes] = []
    digest = hashlib.sha256()
    left = limit
    while left > 0 and (part := os.read(fd, min(left, 1 << 20))):
        parts.append(part)
        digest.update(part)
        left -= len(part)
        tell(limit - left)
    return b"".join(parts), digest.hexdigest()


def _outside() -> ControlRefused:
    return rejected("ref_outside", "the path is not beneath the folder for control messages")


def _unreadable() -> ControlRefused:
    return rejected("ref_unreadable", "there is no such file that could be read, without links")
