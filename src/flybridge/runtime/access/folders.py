"""What a folder would bring along: settings, hooks and servers that its agent would obey.

A repository can hold files by which an agent allows itself things, or runs programs. Somebody
who cloned it has not agreed to any of that. So a folder with such files is opened when a person
says that they trust it, or with those files left out.
"""

from __future__ import annotations

import os
import time
from collections import deque
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from flybridge.errors import AgentStartError, FolderNotTrustedError, InvalidRequestError
from flybridge.model.capabilities import OpenSpec, Options

# Everything in SETTINGS is asked about but what is HARMLESS: real versions were measured to take
# permissions, hooks, servers and shell commands from settings, agents, skills and commands alike
# (docs/explanation/folders.md), and a newer one may read files that nobody knows of yet.
SETTINGS = ".claude"
SERVERS = ".mcp.json"
HARMLESS = frozenset({"CLAUDE.md", "README.md", ".gitignore", ".gitkeep"})  # right in SETTINGS
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", f"{SETTINGS}/CLAUDE.md", "AGENTS.md")
MAX_PARENTS = 64
MAX_FILES = 100
MAX_FOLDERS = 20_000
MAX_DEPTH = 8
NESTED_DEPTH = 4
SEARCH_S = 0.5
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", ".cache"})
Policy: TypeAlias = Literal["ask", "trust", "restrict"]


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


def obeyed_in(cwd: Path, home: Path | None = None) -> list[str]:
    """Return the files in, above and below a folder that an agent which works there would obey.

    Measured with real versions: servers are started from every folder above; agents, skills and
    commands are taken from the folders up to the root of the repository, and outside of a
    repository from all above; skills below are taken once a file beside them was read. What is in
    ``home`` (by default the user's) is the user's own. ``cwd`` is resolved. Blocking, but bounded.
    """
    home = _home() if home is None else home
    above = [folder for folder in _above(cwd) if folder != home]
    repository = _repository(cwd)
    found: list[Path] = []
    for folder in [cwd, *above]:
        if folder != home and (folder in repository or len(repository) == 0):
            found += _files_in(folder / SETTINGS, MAX_DEPTH, HARMLESS)
        if _exists(folder / SERVERS):
            found.append(folder / SERVERS)
    if home is None or not home.is_relative_to(cwd):  # else there are all of the user's projects
        nested = (_files_in(place, MAX_DEPTH, HARMLESS) for place in _nested(cwd))
        found += [path for files in nested for path in files]
    return [str(path) for path in found[:MAX_FILES]]


def instructions_in(cwd: Path) -> list[str]:
    """Return the files of instructions that an agent reads there. They are text for the model, so
    people are shown them and not asked about them. Blocking, but short."""
    folders = _repository(cwd) or [cwd]
    paths = [folder / name for folder in folders for name in INSTRUCTIONS]
    return [str(path) for path in paths if _exists(path)]


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None


def _above(cwd: Path) -> list[Path]:
    return list(cwd.parents)[:MAX_PARENTS]


def _repository(cwd: Path) -> list[Path]:
    """Return the folder and those above it up to the root of its repository; outside of a
    repository, none."""
    around = [cwd, *_above(cwd)]
    root = next((folder for folder in around if (folder / ".git").exists()), None)
    return [] if root is None else around[: around.index(root) + 1]


def _nested(cwd: Path) -> list[Path]:
    """Return the folders of settings below ``cwd``, as far as a short search gets. Links are not
    followed, and folders of other programs' files are left out."""
    found: list[Path] = []
    deadline = time.monotonic() + SEARCH_S
    seen, todo = 0, deque([(cwd, 0)])
    while todo and len(found) < MAX_FILES:
        folder, depth = todo.popleft()
        try:
            with os.scandir(folder) as entries:
                names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        seen += len(names) + 1
        if seen > MAX_FOLDERS or time.monotonic() > deadline:
            break
        if depth and SETTINGS in names:
            found.append(folder / SETTINGS)
        skipped = SKIPPED | {SETTINGS}
        if depth < NESTED_DEPTH:
            todo += [(folder / name, depth + 1) for name in sorted(names) if name not in skipped]
    return found


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _files_in(path: Path, depth: int, but: frozenset[str] = frozenset()) -> list[Path]:
    """Return every file below ``path`` in the order of their names, at most a few more than
    ``MAX_FILES``. What cannot be looked into, and every link, is named itself."""
    if not _exists(path):
        return []
    if not path.is_dir() or (path.is_symlink() and depth < MAX_DEPTH) or not depth:
        return [path]
    try:
        entries = sorted(path.iterdir())
    except OSError:
        return [path]
    found: list[Path] = []
    for entry in entries:
        if len(found) > MAX_FILES:
            break
        if entry.name not in but or not entry.is_file():
            found += _files_in(entry, depth - 1)
    return found


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
        raise FolderNotTrustedError(str(cwd), files=found, instructions=instructions_in(cwd))


def check_start(trusted: Trusted | None, spec: OpenSpec, policy: Policy = "ask") -> OpenSpec:
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
    if policy == "restrict" and not is_restricted(spec.options) and obeyed_in(real):
        spec = msgspec.structs.replace(spec, options=restricted(spec.options))
    elif policy == "ask" and not is_restricted(spec.options):
        try:
            check_folder(trusted, real, obeyed_in(real))
        except FolderNotTrustedError as error:
            reason = f"{spec.cwd} now leads elsewhere: {error}"
            raise AgentStartError(spec.agent, reason=reason) from error
    return msgspec.structs.replace(spec, cwd=str(real))
