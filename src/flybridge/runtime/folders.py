"""What a folder would bring along: settings, hooks and servers that its agent would obey.

A repository can hold files by which an agent allows itself things, or runs programs. Somebody
who cloned it has not agreed to any of that. So a folder with such files is opened when a person
says that they trust it, or with those files left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import msgspec

from flybridge.errors import AgentStartError, FolderNotTrustedError, InvalidRequestError
from flybridge.model.capabilities import OpenSpec, Options

OBEYED = (".claude/settings.json", ".claude/settings.local.json", ".mcp.json")
MAX_PARENTS = 64


class Trusted(Protocol):
    """The folders that are trusted."""

    def holds(self, folder: Path) -> bool: ...
    def add(self, folder: Path) -> None: ...
    def remove(self, folder: Path) -> bool: ...
    def all(self) -> list[str]: ...


def resolve_folder(path: str) -> Path:
    """Return a folder with every link and every ``..`` in its path resolved. Blocking, but short.

    What is checked, recorded and handed to the agent is this path: two spellings of one folder
    get one answer, and a link that is changed afterwards changes nothing.

    Raises:
        InvalidRequestError: the path is not absolute, or there is no such folder.
    """
    folder = Path(path)
    try:
        real = folder.resolve(strict=True) if folder.is_absolute() else None
        str(real).encode()
    except (OSError, RuntimeError, ValueError):  # missing, a loop of links, a NUL, not UTF-8
        real = None
    if real is None or not real.is_dir():
        raise InvalidRequestError(f"no such directory: {path[:200]}")
    return real


def obeyed_in(cwd: Path) -> list[str]:
    """Files in the folder, and above it up to the root of its repository, that an agent which
    works there would obey. ``cwd`` is resolved. Blocking, but short."""
    around = [cwd, *cwd.parents][:MAX_PARENTS]
    root = next((one for one in around if (one / ".git").exists()), cwd)
    inside = around[: around.index(root) + 1]  # outside of a repository only the folder counts
    files = [folder / name for folder in inside for name in OBEYED]
    return [str(one) for one in files if one.exists() or one.is_symlink()]


def restricted(options: Options) -> Options:
    """The same, with what the folder brings left out."""
    return msgspec.structs.replace(options, setting_sources=("user",), strict_mcp_config=True)


def is_restricted(options: Options) -> bool:
    """Return whether what the folder brings is left out."""
    return options == restricted(options)


def check_folder(trusted: Trusted | None, cwd: Path, found: list[str]) -> None:
    """Make sure that a person agreed to what the folder brings.

    Raises:
        FolderNotTrustedError: nobody did.
    """
    if trusted is not None and found and not trusted.holds(cwd):
        raise FolderNotTrustedError(str(cwd), files=found)


def check_start(trusted: Trusted | None, spec: OpenSpec) -> OpenSpec:
    """Return ``spec`` with its folder resolved once more, right before an agent starts there.

    A path that was resolved when the session was opened and now leads elsewhere was replaced
    since; one of a session from an older version may never have been resolved. Both are checked
    as a new folder would be. Blocking, but short.

    Raises:
        AgentStartError: the path leads to a folder whose settings nobody agreed to.
    """
    try:
        real = Path(spec.cwd).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return spec  # the start itself reports what is wrong with it
    if str(real) == spec.cwd:
        return spec
    if not is_restricted(spec.options):
        try:
            check_folder(trusted, real, obeyed_in(real))
        except FolderNotTrustedError as error:
            reason = f"{spec.cwd} now leads to {error}; open a new session there to be asked"
            raise AgentStartError(spec.agent, reason=reason) from error
    return msgspec.structs.replace(spec, cwd=str(real))
