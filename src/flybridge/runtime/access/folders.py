"""Find the settings that a folder brings along, and decide whether an agent may obey them.

A repository can hold files by which an agent allows itself things, or runs programs. Somebody
who cloned it has not agreed to any of that. So a folder with such files is opened when a person
says that they trust it, or with those files left out. Which files these are, and how an agent is
started without them, is published by the agent (``flybridge.model.trust``).
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from flybridge.errors import (
    AgentStartError,
    FolderNotTrustedError,
    InvalidRequestError,
    NotSupportedError,
)
from flybridge.model.capabilities import OpenSpec
from flybridge.model.options import AgentOptions
from flybridge.model.trust import Above, TrustFile, TrustFiles
from flybridge.session.ports import Agent

MAX_PARENTS = 64
MAX_FILES = 100
MAX_FOLDERS = 20_000
MAX_DEPTH = 8
NESTED_DEPTH = 4
SEARCH_S = 0.5
SKIPPED = frozenset({".git", "node_modules", "__pycache__", ".venv", ".cache"})
Policy: TypeAlias = Literal["ask", "trust", "restrict"]


class Trusted(Protocol):
    """The folders that are trusted, each for one kind of agent."""

    def holds(self, folder: Path, kind: str, /) -> bool: ...
    def add(self, folder: Path, kind: str = ..., /) -> None: ...
    def remove(self, folder: Path, kind: str = ..., /) -> bool: ...
    def all(self) -> list[str]: ...  # of the kind that versions without kinds knew
    def by_kind(self) -> dict[str, list[str]]: ...


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


def settings_in(cwd: Path, files: TrustFiles, home: Path | None = None) -> list[str]:
    """Return the settings in, above and below a folder that an agent would obey there.

    ``home`` (by default the user's) holds the user's own files: it is passed over on the way up,
    and a session that works there is not asked about the projects below it. ``cwd`` is resolved.
    Blocking, but bounded.
    """
    home = _home() if home is None else home
    places = _Places(cwd)
    matches: list[Path] = []
    for folder in places.around:
        if folder == home and folder != cwd:
            continue
        for file in files.settings:
            own = folder == home and file.own_in_home
            if not own and places.counts(folder, file.above):
                matches += _matches(folder, file)
    if home is None or not home.is_relative_to(cwd):
        matches += _nested(cwd, [file for file in files.settings if file.nested])
    return [str(path) for path in matches[:MAX_FILES]]


def instructions_in(cwd: Path, files: TrustFiles) -> list[str]:
    """Return the files of instructions that an agent reads there. They are text for the model, so
    people are shown them and not asked about them. Blocking, but short."""
    places = _Places(cwd)
    paths = [
        path
        for folder in places.around
        for file in files.instructions
        if places.counts(folder, file.above)
        for path in _matches(folder, file)
    ]
    return [str(path) for path in paths[:MAX_FILES]]


class _Places:
    """A folder, the folders above it, and which of them belong to its repository."""

    def __init__(self, cwd: Path) -> None:
        self.around = [cwd, *list(cwd.parents)[:MAX_PARENTS]]
        roots = (depth for depth, folder in enumerate(self.around) if (folder / ".git").exists())
        root = next(roots, None)
        self._inside = set() if root is None else set(self.around[: root + 1])

    def counts(self, folder: Path, above: Above) -> bool:
        """Return whether an agent that looks this far up reads a file in ``folder``."""
        if folder == self.around[0] or above == "all":
            return True
        if above == "repository_or_all" and not self._inside:
            return True
        return above != "none" and folder in self._inside


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):
        return None


def _nested(cwd: Path, files: list[TrustFile]) -> list[Path]:
    """Return what matches below ``cwd``, as far as a short search gets. Links are not followed,
    and folders of other programs' files are left out."""
    matches: list[Path] = []
    deadline = time.monotonic() + SEARCH_S
    firsts = {file.parts[0] for file in files}
    seen, todo = 0, deque([(cwd, 0)] if files else [])
    while todo and len(matches) < MAX_FILES:
        folder, depth = todo.popleft()
        try:
            with os.scandir(folder) as entries:
                names = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError:
            continue
        seen += sum(names.values()) + 1
        if seen > MAX_FOLDERS or time.monotonic() > deadline:
            break
        if depth and not firsts.isdisjoint(names):
            matches += [path for file in files for path in _matches(folder, file)]
        if depth < NESTED_DEPTH:
            skipped = SKIPPED | firsts
            below = sorted(name for name, is_folder in names.items() if is_folder)
            todo += [(folder / name, depth + 1) for name in below if name not in skipped]
    return matches


def _matches(folder: Path, file: TrustFile) -> Iterable[Path]:
    """Return the files in ``folder`` that ``file`` describes. A link on the way that leads nowhere
    is named itself: it may lead somewhere by the time the agent starts."""
    path = folder
    for part in file.parts:
        path = path / part
        if path.is_symlink() and not path.exists():
            return [path]
    if file.kind == "folder":
        return _files_in(path, MAX_DEPTH, frozenset(file.harmless))
    return [path] if _exists(path) else []


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


def restricted(agent: Agent, agent_options: AgentOptions) -> AgentOptions:
    """Return the options with which an agent starts without the settings of its folder.

    Raises:
        NotSupportedError: the agent cannot leave them out.
    """
    without = agent.restricted(agent_options)
    if without is None:
        raise NotSupportedError(
            f"{agent.name} cannot leave out the settings of its folder. To let it obey them, pass "
            f"--folder trust, run `flybridge trust add --agent {agent.name}` in a terminal, or set "
            "folder_settings to trust in your config.yaml"
        )
    return without


def is_restricted(agent: Agent, agent_options: AgentOptions) -> bool:
    """Return whether the options leave out the settings of the folder already."""
    return agent_options == agent.restricted(agent_options)


def check_folder(trusted: Trusted | None, agent: Agent, cwd: Path, settings: list[str]) -> None:
    """Make sure that a person agreed to the settings which an agent would obey in a folder.

    Raises:
        FolderNotTrustedError: nobody did.
    """
    if trusted is not None and settings and not trusted.holds(cwd, agent.kind):
        raise FolderNotTrustedError(
            str(cwd),
            files=settings,
            instructions=instructions_in(cwd, agent.trust_files),
            agent=agent.name,
            restrict="unsupported" if agent.restricted({}) is None else "supported",
        )


def check_start(
    trusted: Trusted | None,
    agent: Agent,
    spec: OpenSpec,
    policy: Policy = "ask",
    *,
    asked: bool = True,
) -> OpenSpec:
    """Check the settings of a session's folder right before its agent starts there, and return
    ``spec`` with the folder resolved.

    They can differ from those that a person was asked about when the session was opened: the path
    leads to another folder now, or the folder has gained settings since. ``asked`` is False for a
    session of an older version, which nobody was asked about; it goes on unless its path leads
    elsewhere. Blocking, but short.

    Raises:
        AgentStartError: the folder has settings that nobody agreed to.
    """
    try:
        real = Path(spec.cwd).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        return spec  # the start itself reports what is wrong with it
    resolved = msgspec.structs.replace(spec, cwd=str(real))
    same = resolved.cwd == spec.cwd
    if (same and not asked) or policy == "trust" or is_restricted(agent, spec.agent_options):
        return resolved
    if trusted is not None and trusted.holds(real, agent.kind):
        return resolved
    settings = settings_in(real, agent.trust_files)
    try:
        if policy == "ask":
            check_folder(trusted, agent, real, settings)
        elif settings:
            without = restricted(agent, spec.agent_options)
            resolved = msgspec.structs.replace(resolved, agent_options=without)
    except (FolderNotTrustedError, NotSupportedError) as error:
        since = "has settings now" if same else "now leads elsewhere"
        raise AgentStartError(spec.agent, reason=f"{spec.cwd} {since}: {error}") from error
    return resolved
