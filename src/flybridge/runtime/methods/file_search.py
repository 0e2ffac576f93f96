"""Files of a session's directory, found by a few letters, for ``@file``.

Where git is, it says what is there and what is ignored; elsewhere the directory is walked. Both
are bounded in time and number, both stay below the directory, and neither follows a link. A
repository is a stranger's: git is started without its hooks, its monitors and its helpers.
Everything here blocks and belongs into a thread.
"""

from __future__ import annotations

import heapq
import os
import re
import shutil
import subprocess
import threading
import time
from collections import OrderedDict
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from flybridge.model.ids import SessionId

MAX_FILES = 50_000
MAX_GIT_BYTES = 8 << 20
SEARCH_S = 3.0
MAX_DEPTH = 32
MAX_SHOWN = 100
FRESH_S = 3.0  # people type: the same directory is asked about many times a second
MAX_KEPT = 8
SKIPPED = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache"})
_GIT = (
    *("-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false"),
    *("-c", f"core.hooksPath={os.devnull}", "-c", "core.pager=cat"),
    *("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"),
)
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY


class FileParams(msgspec.Struct, kw_only=True):
    session: SessionId
    query: Annotated[str, msgspec.Meta(max_length=256)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_SHOWN)] = 20


class FoundFile(msgspec.Struct, frozen=True):
    path: str  # below the session's directory, with slashes
    kind: Literal["file", "folder"]


class FoundFiles(msgspec.Struct, kw_only=True):
    """The best first. ``truncated``: there is more in the directory than was looked at."""

    files: list[FoundFile]
    truncated: bool = False


class Listing(msgspec.Struct, frozen=True):
    """Every path below a directory, folders with a slash at their end."""

    paths: tuple[str, ...]
    truncated: bool


class FileSearch:
    """Remembers for a moment what is in a directory."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, Listing]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, folder: str, query: str, limit: int) -> FoundFiles:
        """What matches best, and is there."""
        listing = self._listing(folder)
        best = ranked(listing.paths, query, 2 * limit)
        found = [one for one in best if _is_inside(folder, one)][:limit]
        return FoundFiles(
            files=[
                FoundFile(one.removesuffix("/"), "folder" if one.endswith("/") else "file")
                for one in found
            ],
            truncated=listing.truncated,
        )

    def _listing(self, folder: str) -> Listing:
        with self._lock:
            known = self._kept.get(folder)
        if known is not None and time.monotonic() - known[0] < FRESH_S:
            return known[1]
        listing = list_files(folder)
        with self._lock:
            self._kept[folder] = (time.monotonic(), listing)
            self._kept.move_to_end(folder)
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return listing


# ---- what is there ---------------------------------------------------------------------------


def list_files(folder: str, *, max_files: int = MAX_FILES, within_s: float = SEARCH_S) -> Listing:
    """Everything below a folder that is not ignored, as far as it fits the bounds."""
    known = _of_git(folder, max_files, within_s)
    if known is None:
        known = _walk(folder, max_files, time.monotonic() + within_s)
    folders: dict[str, None] = {}
    for path in known.paths:
        above = path.rpartition("/")[0]
        while above and above + "/" not in folders:
            folders[above + "/"] = None
            above = above.rpartition("/")[0]
    return Listing((*known.paths, *folders), known.truncated)


def _of_git(folder: str, max_files: int, within_s: float) -> Listing | None:
    """What git says; None where there is no git, no repository, or one of somebody else's."""
    git = shutil.which("git")
    if git is None:
        return None
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
    try:
        with subprocess.Popen(
            [git, *_GIT],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            data, cut = _read(process, within_s)
            status = process.wait()
    except OSError:
        return None
    if status != 0 and not cut:
        return None
    names = data.split(b"\0")[:-1]
    paths = [text for one in names[:max_files] if (text := _plain(one))]
    return Listing(tuple(paths), cut or len(names) > max_files)


def _read(process: subprocess.Popen[bytes], within_s: float) -> tuple[bytes, bool]:
    """What it writes, within the bounds, and whether it wanted to write more."""
    assert process.stdout is not None
    ended = threading.Timer(within_s, process.kill)
    ended.start()
    try:
        data = process.stdout.read(MAX_GIT_BYTES)
    finally:
        ended.cancel()
    cut = len(data) == MAX_GIT_BYTES
    if cut:
        process.kill()
    return data, cut


def _plain(name: bytes) -> str:
    """A path as it can be written down in JSON, and only one that stays below."""
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return ""
    return "" if text.startswith("/") or ".." in text.split("/") else text.removesuffix("/")


def _walk(folder: str, max_files: int, deadline: float) -> Listing:
    found: list[str] = []
    todo = [("", 0)]
    while todo:
        inside, depth = todo.pop(0)
        try:
            with os.scandir(Path(folder, inside)) as entries:
                names = sorted(entries, key=lambda one: one.name)
        except OSError:
            continue
        for entry in names:
            if len(found) >= max_files or time.monotonic() > deadline:
                return Listing(tuple(found), truncated=True)
            path = f"{inside}/{entry.name}" if inside else entry.name
            if entry.is_symlink() or not _is_text(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED and depth < MAX_DEPTH:
                    todo.append((path, depth + 1))
            else:
                found.append(path)
    return Listing(tuple(found), truncated=False)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # a name that is not UTF-8
        return False
    return True


def _is_inside(folder: str, path: str) -> bool:
    """Whether it is there, below the folder, with no link on the way."""
    *folders, name = path.removesuffix("/").split("/")
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        for one in folders:
            inner = os.open(one, _FOLDER, dir_fd=fd)
            os.close(fd)
            fd = inner
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except (OSError, ValueError):
        return False
    finally:
        os.close(fd)
    return True


# ---- which are meant -------------------------------------------------------------------------


def ranked(paths: tuple[str, ...], query: str, limit: int) -> list[str]:
    """The paths that have the query's letters in their order, the best first."""
    letters = query.lower().removeprefix("./").replace(" ", "")
    if not letters:
        shortest = heapq.nsmallest(limit, paths, key=lambda one: (one.count("/"), one.lower()))
        return list(shortest)
    # each step is "anything but the next letter", so that no path costs more than its length
    pattern = re.compile("".join(f"[^{re.escape(one)}]*{re.escape(one)}" for one in letters))
    scored = ((_score(one, letters), one) for one in paths if pattern.match(one.lower()))
    best = heapq.nsmallest(limit, scored, key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    return [path for _, path in best]


def _score(path: str, letters: str) -> int:
    """How well a path fits: its name counts more than its folders, whole runs more than bits."""
    whole = path.lower().removesuffix("/")
    name = whole.rpartition("/")[2]
    if whole == letters or name == letters:
        return 1000
    if name.startswith(letters):
        return 800 - min(len(name) - len(letters), 100)
    at = name.find(letters)
    if at >= 0:
        return 600 + (50 if _is_start(name, at) else 0) - min(len(name), 100)
    at = whole.find(letters)
    if at >= 0:
        return 400 + (50 if _is_start(whole, at) else 0) - min(len(whole), 200) // 2
    return _scattered(name, letters) or _scattered(whole, letters) // 2


def _scattered(text: str, letters: str) -> int:
    """Points for letters that begin a word, or follow one another; 0: they are not all there."""
    points, at = 0, -1
    for one in letters:
        found = text.find(one, at + 1)
        if found < 0:
            return 0
        points += 8 if found == at + 1 else 6 if _is_start(text, found) else 1
        at = found
    return 100 + points - min(len(text), 100) // 4


def _is_start(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()
