"""What survives a power cut: the log's bytes on stable storage, one fdatasync for many waiters.

A commit is in the kernel's hands, which is enough against kill -9. A barrier adds the disk.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from flybridge.errors import StorageError
from flybridge.store.ballast import disk_error

if sys.platform == "darwin":
    import fcntl


def sync_file(fd: int) -> None:
    """Have the disk itself hold what was written to ``fd``."""
    if sys.platform == "darwin":  # there fsync stops at the drive's own cache
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` last, not only the bytes behind them."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class WalFile:
    """A descriptor of our own on the write-ahead log of an open database.

    Kept open from the moment the log exists, because Linux tells each descriptor of a failed
    write-back once: SQLite may meet the error in a checkpoint and not say so, ours is told
    too. Closing it is harmless: POSIX drops all of a process's locks on a file when any of
    its descriptors is closed, but SQLite locks the database itself and never the log.
    """

    def __init__(self, database: Path) -> None:
        self._paths = (database, database.with_name(database.name + "-wal"))
        self._lock = threading.Lock()
        try:
            self._fd = os.open(self._paths[1], os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            self._files = self._found()
        except OSError as error:
            raise disk_error(error, self._paths[1]) from error

    def sync(self) -> None:
        """Put everything written so far on stable storage. Runs in any thread.

        Raises:
            StorageError: the disk failed, or the files were moved away or replaced: SQLite
                would go on writing into files that nobody will ever open again.
        """
        with self._lock:
            try:
                if self._found() != self._files:
                    raise StorageError(f"{self._paths[0]}: replaced while it was open")
                sync_file(self._fd)
            except OSError as error:
                raise disk_error(error, self._paths[1]) from error

    def close(self) -> None:
        with self._lock:
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1

    def _found(self) -> list[tuple[int, int]]:
        stats = [path.lstat() for path in self._paths]
        return [(stat.st_dev, stat.st_ino) for stat in stats]


class Barrier:
    """Lets many wait for few syncs: whoever comes while one runs shares the next.

    ``sync`` runs in a thread of its own. After it failed once nothing is tried again (a
    second fsync says yes to pages the kernel has already given up) until :meth:`start`.
    """

    def __init__(self, failed: Callable[[StorageError], None]) -> None:
        self._failed = failed
        self._sync: Callable[[], None] = lambda: None
        self._worker: ThreadPoolExecutor | None = None
        self._written = 0
        self._synced = 0
        self._running: asyncio.Future[None] | None = None
        self._running_upto = 0
        self._waiting: asyncio.Future[None] | None = None
        self._closed = False

    def start(self, sync: Callable[[], None]) -> None:
        """All that was written is on disk now; from here on ``sync`` puts it there."""
        self._sync = sync
        self._synced = self._written

    def wrote(self) -> None:
        """Something was committed that is not on disk yet."""
        self._written += 1

    def wait(self) -> Awaitable[None]:
        """Complete when all that was committed before this call is on disk."""
        loop = asyncio.get_running_loop()
        if self._running is not None and self._running.get_loop() is not loop:
            self._running = self._waiting = None  # that loop is gone, and its waiters with it
        if self._synced == self._written:
            done: asyncio.Future[None] = loop.create_future()
            done.set_result(None)
            return done
        # shield: one waiter that is cancelled must not cancel the sync of the others
        if self._running is not None and self._running_upto == self._written:
            return asyncio.shield(self._running)
        if self._waiting is None:
            self._waiting = loop.create_future()
        waiting = self._waiting
        if self._running is None:
            self._run(loop)
        return asyncio.shield(waiting)

    def close(self) -> None:
        """End the thread, after the sync it is in; nothing is synced after that."""
        self._closed = True
        if self._worker is not None:
            self._worker.shutdown(wait=True)
            self._worker = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="flybridge-barrier")
        self._running, self._waiting = self._waiting, None
        self._running_upto = self._written
        job = loop.run_in_executor(self._worker, self._sync)
        job.add_done_callback(self._finished)

    def _finished(self, job: asyncio.Future[None]) -> None:
        running, self._running = self._running, None
        error = job.exception()
        if error is None:
            self._synced = max(self._synced, self._running_upto)
            _settle(running, None)
            self._go_on()
            return
        stop = error if isinstance(error, StorageError) else StorageError(f"barrier: {error!r}")
        waiting, self._waiting = self._waiting, None
        self._failed(stop)
        _settle(running, stop)
        _settle(waiting, stop)

    def _go_on(self) -> None:
        waiting = self._waiting
        if waiting is None:
            return
        if self._synced < self._written and not self._closed:
            self._run(waiting.get_loop())
            return
        self._waiting = None
        on_disk = self._synced == self._written
        _settle(waiting, None if on_disk else StorageError("the journal was closed"))


def _settle(future: asyncio.Future[None] | None, error: StorageError | None) -> None:
    if future is None or future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
        future.exception()  # told to the shields; without any left, not worth a complaint
