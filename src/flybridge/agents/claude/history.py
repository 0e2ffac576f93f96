"""Claude's own transcripts on disk: found, read in part or whole, and replaced after a backup.

``<config>/projects/<folder>/<session>.jsonl``, and beside it the folder ``<session>`` with what
its subagents said. The files belong to another program: everything here only reads, but for
:meth:`ClaudeHistory.replace`. No symbolic link below ``projects`` is followed, whoever put it
there and whenever: each name is opened in the folder that is already open. Everything blocks.
"""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from flybridge.agents.claude.wire.transcript import is_folder_of, is_session_id
from flybridge.errors import InvalidRequestError, SessionNotFoundError, StorageError
from flybridge.store.ballast import disk_error
from flybridge.store.barrier import sync_file
from flybridge.wire.lines import LineSplitter

HEAD_BYTES = 16 << 10
TAIL_BYTES = 16 << 10
MAX_HEAD_BYTES = 1 << 20
MAX_WHOLE_BYTES = 256 << 20
MAX_FILES = 100_000
MAX_BACKUPS = 1000
CHUNK = 1 << 20
SUFFIX = ".jsonl"
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe must not hold us up
_FOLDER = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """One file, as it was when it was found. ``agent``: it is a subagent's."""

    session: str
    folder: str
    size: int
    modified_ms: int
    agent: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Where it lies below ``projects``."""
        if self.agent:
            return (self.folder, self.session, "subagents", self.agent + SUFFIX)
        return (self.folder, self.session + SUFFIX)


class Ends(msgspec.Struct, frozen=True, kw_only=True):
    """The first and the last whole lines of a file; ``whole``: ``head`` has all of them."""

    head: tuple[bytes, ...]
    tail: tuple[bytes, ...] = ()
    whole: bool


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """All lines of a file. ``ended``: the last one has its newline."""

    lines: tuple[bytes, ...]
    ended: bool
    mark: tuple[int, int, int]  # inode, size, time: is it still the same file?


class Newest(msgspec.Struct, frozen=True, kw_only=True):
    """The last lines of a file; so many bytes before them were left out."""

    lines: tuple[bytes, ...]
    unread_bytes: int = 0


class ClaudeHistory:
    """The transcripts under one configuration directory of Claude Code."""

    def __init__(self, config: Path) -> None:
        self.config = config
        self.projects = config / "projects"

    @classmethod
    def of(cls, env: Mapping[str, str]) -> ClaudeHistory:
        """Where Claude Code itself would look, given this environment."""
        chosen = env.get("CLAUDE_CONFIG_DIR")
        return cls(Path(chosen) if chosen else Path(env.get("HOME") or Path.home()) / ".claude")

    # ---- which there are -----------------------------------------------------------------------

    def newest(self, limit: int = MAX_FILES) -> list[Transcript]:
        """Every project's transcripts, the newest first, and no more than ``limit``."""
        return heapq.nlargest(limit, self._all(), key=lambda one: (one.modified_ms, one.session))

    def find(self, given: str) -> Transcript:
        """The transcript whose id begins like ``given``.

        Raises:
            SessionNotFoundError: there is none.
            InvalidRequestError: there are several.
        """
        start = given.lower()
        if len(start) < 4 or not set(start) <= set("0123456789abcdef-"):
            raise SessionNotFoundError(given)
        found = [one for one in self._all() if one.session.lower().startswith(start)]
        if not found:
            raise SessionNotFoundError(given)
        if len(found) > 1:
            names = ", ".join(sorted(f"{one.session} in {one.folder}" for one in found)[:5])
            raise InvalidRequestError(f"{given!r} could be any of {names}")
        return found[0]

    def of_session(self, session: str, cwd: str = "") -> Transcript:
        """The transcript with exactly this id: of two the one of this directory, or the newest.

        Raises:
            SessionNotFoundError: there is none.
        """
        if not is_session_id(session):
            raise SessionNotFoundError(session)
        found = [one for one in self._all() if one.session == session]
        if not found:
            raise SessionNotFoundError(session)
        return max(found, key=lambda one: (is_folder_of(one.folder, cwd), one.modified_ms))

    def subagents(self, transcript: Transcript) -> list[Transcript]:
        """What the subagents of a session said, each in a file of its own."""
        names = (transcript.folder, transcript.session, "subagents")
        try:
            with self._folder(names) as fd:
                return list(self._in_folder(fd, transcript.folder, transcript.session))
        except OSError:  # most sessions had none
            return []

    def _all(self) -> Iterator[Transcript]:
        count = 0
        for folder in self._folders():
            try:
                with self._folder((folder,)) as fd:
                    for one in self._in_folder(fd, folder):
                        yield one
                        count += 1
                        if count >= MAX_FILES:
                            return
            except OSError:  # not ours to read, or gone meanwhile
                continue

    def _folders(self) -> list[str]:
        try:
            with os.scandir(self.projects) as entries:
                return sorted(one.name for one in entries if one.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise disk_error(error, self.projects) from error

    def _in_folder(self, fd: int, folder: str, session: str = "") -> Iterator[Transcript]:
        with os.scandir(fd) as entries:
            for entry in entries:
                name = entry.name.removesuffix(SUFFIX)
                if name == entry.name or not (session or is_session_id(name)):
                    continue
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISREG(found.st_mode):
                    yield Transcript(
                        session=session or name,
                        folder=folder,
                        size=found.st_size,
                        modified_ms=found.st_mtime_ns // 1_000_000,
                        agent=name if session else "",
                    )

    # ---- what they say -------------------------------------------------------------------------

    def ends(self, transcript: Transcript, head: int = HEAD_BYTES) -> Ends:
        """The beginning and the end, never the middle: enough to tell what it is.

        Raises:
            StorageError: it cannot be read.
        """
        with self._file(transcript) as fd:
            size = os.fstat(fd).st_size
            if size <= head + TAIL_BYTES:
                return Ends(head=_lines(os.pread(fd, size, 0)), whole=True)
            first = os.pread(fd, head, 0)
            last = os.pread(fd, TAIL_BYTES, size - TAIL_BYTES)
        return Ends(
            head=_lines(first[: first.rfind(b"\n") + 1]),
            tail=_lines(last[last.find(b"\n") + 1 :]),
            whole=False,
        )

    def read(self, transcript: Transcript, max_bytes: int = MAX_WHOLE_BYTES) -> Whole:
        """All of it.

        Raises:
            InvalidRequestError: it is longer than ``max_bytes``.
            StorageError: it cannot be read.
        """
        with self._file(transcript) as fd:
            mark = _mark(os.fstat(fd))
            if mark[1] > max_bytes:
                raise InvalidRequestError(
                    f"{self.path(transcript)} has {mark[1]} bytes; {max_bytes} are read at most"
                )
            splitter = LineSplitter()
            lines: list[bytes] = []
            for chunk in _chunks(fd, mark[1]):
                lines += splitter.receive(chunk)
        rest = splitter.rest
        return Whole(lines=(*lines, rest) if rest else tuple(lines), ended=not rest, mark=mark)

    def read_newest(self, transcript: Transcript, max_bytes: int) -> Newest:
        """All of it, or the last whole lines of one that is longer.

        Raises:
            StorageError: it cannot be read.
        """
        with self._file(transcript) as fd:
            size = os.fstat(fd).st_size
            unread = max(0, size - max_bytes)
            inside = unread > 0  # a line that began before
            splitter = LineSplitter()
            lines: list[bytes] = []
            for chunk in _chunks(fd, size, unread):
                if inside:
                    rest, newline, chunk = chunk.partition(b"\n")
                    unread += len(rest) + len(newline)
                    inside = not newline
                lines += splitter.receive(chunk)
        lines += [splitter.rest] if splitter.rest else []
        return Newest(lines=tuple(lines), unread_bytes=unread)

    def chunks(self, transcript: Transcript) -> Iterator[bytes]:
        """All of it, piece by piece."""
        with self._file(transcript) as fd:
            yield from _chunks(fd, os.fstat(fd).st_size)

    def path(self, transcript: Transcript) -> Path:
        """Its name for people; nothing here opens it by this."""
        return self.projects.joinpath(*transcript.names)

    # ---- the only thing that writes ------------------------------------------------------------

    def replace(self, transcript: Transcript, old: Whole, lines: Sequence[bytes]) -> Path:
        """Put ``lines`` in place of ``old``, which stays as the file whose path is returned.

        The new file appears whole or not at all. Nothing is ever deleted.

        Raises:
            InvalidRequestError: somebody wrote to the file since ``old`` was read.
            StorageError: the disk refused; the transcript is what it was.
        """
        *folders, name = transcript.names
        path = self.path(transcript)
        fresh = f".{name}.new-{os.getpid()}"
        try:
            with self._folder(folders) as fd:
                mode = os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode & 0o600
                backup = self._back_up(fd, name, transcript)
                _write(fd, fresh, mode, (line + b"\n" for line in lines))
                try:
                    now = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    if _mark(now) != old.mark:
                        raise InvalidRequestError(f"{path} was written to meanwhile; look again")
                    os.rename(fresh, name, src_dir_fd=fd, dst_dir_fd=fd)
                except BaseException:
                    os.unlink(fresh, dir_fd=fd)
                    raise
                os.fsync(fd)
        except OSError as error:
            raise disk_error(error, path) from error
        return path.with_name(backup)

    def _back_up(self, fd: int, name: str, transcript: Transcript) -> str:
        for number in range(1, MAX_BACKUPS):
            backup = f"{name}.bak-{number}"
            try:
                _write(fd, backup, 0o600, self.chunks(transcript))
            except FileExistsError:
                continue
            return backup
        raise StorageError(f"{name} has {MAX_BACKUPS} backups; move some away")

    # ---- how anything is opened ----------------------------------------------------------------

    @contextmanager
    def _folder(self, names: Sequence[str]) -> Iterator[int]:
        fd = os.open(self.projects, _FOLDER & ~os.O_NOFOLLOW)  # people do link ~/.claude
        try:
            for name in names:
                inner = os.open(_plain(name), _FOLDER, dir_fd=fd)
                os.close(fd)
                fd = inner
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _file(self, transcript: Transcript) -> Iterator[int]:
        *folders, name = transcript.names
        try:
            with self._folder(folders) as folder:
                fd = os.open(_plain(name), _READ, dir_fd=folder)
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise InvalidRequestError(f"{self.path(transcript)} is no plain file")
                yield fd
            finally:
                os.close(fd)
        except OSError as error:
            raise disk_error(error, self.path(transcript)) from error


def _plain(name: str) -> str:
    if "/" in name or "\0" in name or name in ("", ".", ".."):
        raise InvalidRequestError(f"not the name of a file: {name!r}")
    return name


def _lines(data: bytes) -> tuple[bytes, ...]:
    return tuple(line for line in data.split(b"\n") if line)


def _chunks(fd: int, size: int, at: int = 0) -> Iterator[bytes]:
    """What was there when we came; who writes now is read the next time."""
    while at < size and (chunk := os.pread(fd, min(CHUNK, size - at), at)):
        at += len(chunk)
        yield chunk


def _mark(found: os.stat_result) -> tuple[int, int, int]:
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _write(fd: int, name: str, mode: int, pieces: Iterator[bytes]) -> None:
    """A new file with all of this on the disk, or none."""
    new = os.open(name, _NEW, mode, dir_fd=fd)
    try:
        with os.fdopen(new, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            sync_file(file.fileno())
    except BaseException:
        os.unlink(name, dir_fd=fd)
        raise
