"""What is checked out where a session works, read off git's own files.

A repository is a stranger's: no program is started in it, links are not followed, and no more is
told of a file than the name of a branch or the number of a commit. It blocks for the time of two
small reads, and belongs into a thread.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import msgspec

MAX_DEPTH = 64
MAX_BYTES = 4096
_BRANCH = re.compile(r"ref: refs/heads/([^\x00-\x20\x7f~^:?*\[\\]{1,200})\n?")
_COMMIT = re.compile(r"([0-9a-f]{12})[0-9a-f]{28,52}\n?")
_ELSEWHERE = re.compile(r"gitdir: ([^\x00\n]+)\n?")  # a worktree, or a submodule


class Checkout(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A branch, or a commit where no branch is; neither where there is no repository."""

    branch: str = ""
    commit: str = ""


NONE = Checkout()


def checkout_of(folder: str) -> Checkout:
    """What is checked out in the repository that a folder belongs to."""
    place = Path(folder)
    for above in (place, *place.parents)[:MAX_DEPTH]:
        try:
            found = (above / ".git").lstat().st_mode
        except OSError:
            continue
        if stat.S_ISDIR(found):
            return _told(_read(above / ".git" / "HEAD"))
        elsewhere = _ELSEWHERE.fullmatch(_read(above / ".git"))
        return _told(_read(above / elsewhere[1] / "HEAD")) if elsewhere else NONE
    return NONE


def _told(head: str) -> Checkout:
    if branch := _BRANCH.fullmatch(head):
        return Checkout(branch=branch[1])
    commit = _COMMIT.fullmatch(head)
    return Checkout(commit=commit[1]) if commit else NONE


def _read(path: Path) -> str:
    """The text of a small file; nothing, if it is anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return os.read(fd, MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(fd)
