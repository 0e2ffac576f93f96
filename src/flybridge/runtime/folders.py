"""What a folder would bring along: settings, hooks and servers that its agent would obey.

A repository can hold files by which an agent allows itself things, or runs programs. Somebody
who cloned it has not agreed to any of that. So a folder with such files is opened when a person
says that they trust it, or with those files left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from flybridge.errors import FolderNotTrustedError
from flybridge.model.capabilities import Options

OBEYED = (".claude/settings.json", ".claude/settings.local.json", ".mcp.json")
MAX_PARENTS = 64


class Trusted(Protocol):
    """The folders that are trusted."""

    def holds(self, folder: Path) -> bool: ...
    def add(self, folder: Path) -> None: ...
    def remove(self, folder: Path) -> bool: ...
    def all(self) -> list[str]: ...


def obeyed_in(cwd: Path) -> list[str]:
    """Files in the folder, and above it up to the root of its repository, that an agent which
    works there would obey. Blocking, but short."""
    around = [cwd, *cwd.parents][:MAX_PARENTS]
    root = next((one for one in around if (one / ".git").exists()), cwd)
    inside = around[: around.index(root) + 1]  # outside of a repository only the folder counts
    files = [folder / name for folder in inside for name in OBEYED]
    return [str(one) for one in files if one.exists() or one.is_symlink()]


def restricted(options: Options) -> Options:
    """The same, with what the folder brings left out."""
    return msgspec.structs.replace(options, setting_sources=("user",), strict_mcp_config=True)


def check_folder(trusted: Trusted | None, cwd: Path, found: list[str]) -> None:
    """Make sure that a person agreed to what the folder brings.

    Raises:
        FolderNotTrustedError: nobody did.
    """
    if trusted is not None and found and not trusted.holds(cwd):
        raise FolderNotTrustedError(str(cwd), files=found)
