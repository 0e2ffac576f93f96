"""The durable journal: one SQLite file, one connection, one transaction per step.

The connection belongs to the event loop's thread. A packed row takes tens of microseconds
there; through a writer thread each row would pay for the interpreter lock twice.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from flybridge.errors import (
    LocalProtocolError,
    StorageCorruptError,
    StorageError,
    StorageFullError,
)
from flybridge.model.deliveries import Batch
from flybridge.model.ids import InputKey, SessionId
from flybridge.session.ports import IncarnationRow, InputRow, Loaded, SessionRow, Write
from flybridge.store import database, schema, tables
from flybridge.store.ballast import BALLAST_BYTES, Ballast
from flybridge.store.barrier import Barrier, WalFile, sync_folder
from flybridge.store.rules import check_write

P = ParamSpec("P")
T = TypeVar("T")

_PROBE = bytes(64 * 1024)  # more than what might happen to be free in a page


def _clock_ms() -> int:
    return time.time_ns() // 1_000_000


class SqliteJournal:
    """A :class:`~flybridge.session.ports.Journal` in a file. Make one with :meth:`open`.

    After the disk refused once, every commit is refused until :meth:`recover` has seen it
    work again; only an urgent one may still use the ballast of a full disk. After an I/O
    error or a failed sync the file is closed, opened and verified anew, because what the
    kernel remembers of it may not be what the disk holds.
    """

    def __init__(
        self, path: Path, *, boot: str, now_ms: Callable[[], int], ballast: Ballast, max_bytes: int
    ) -> None:
        self.generation = 0
        self._path = path
        self._boot = boot
        self._now_ms = now_ms
        self._ballast = ballast
        self._max_bytes = max_bytes
        self._trouble: StorageError | None = None
        self._suspect = False  # what we have open may not be what is on disk
        self._closed = False
        self._barrier = Barrier(self._sync_failed)
        self._wal: WalFile | None = None
        self._db = self._connect()
        try:
            self.generation = self._transact(self._begin)
            self._wal = self._sync_now()
            self._tip = self._ask(tables.highest_batch)
            self._hold_ballast()
        except BaseException:
            self._let_go()
            raise

    @classmethod
    def open(
        cls,
        path: str,
        *,
        boot: str,
        now_ms: Callable[[], int] = _clock_ms,
        ballast_bytes: int = BALLAST_BYTES,
        max_bytes: int = 0,
    ) -> SqliteJournal:
        """Open the journal at ``path``, or make it; ``boot`` names this run of the machine.

        ``max_bytes`` bounds the file (0: the disk does); urgent writes may go beyond it by
        the size of the ballast. Blocks: call it before serving anybody.

        Raises:
            StorageVersionError: a newer Flybridge wrote it.
            StorageCorruptError: it is damaged, or no journal. It is left as it is.
            StorageError: it is not safely ours, or held by another process.
        """
        place = Path(path)
        database.guard(place)
        if not place.exists():
            database.create(place, schema.build)
        ballast = Ballast(place.with_name(place.name + ".ballast"), ballast_bytes)
        return cls(place, boot=boot, now_ms=now_ms, ballast=ballast, max_bytes=max_bytes)

    # ---- writing --------------------------------------------------------------------------------

    def commit(self, write: Write, *, urgent: bool = False) -> None:
        """Take one step of one session: all of it, or nothing.

        The session row's ``epoch`` and ``last_seq`` are the journal's own, not taken from a
        ``write.row`` for a known session. Numbers in ``outbox_done`` leave before those in
        ``outbox`` come; an item in ``drafts_gone`` is gone even if it is in ``drafts``.

        Raises:
            RequestReusedError: a claimed key is taken.
            LocalProtocolError: the step contradicts itself or the log.
            SessionNotFoundError: there is no such session, and the step brings no row.
            StorageError: the disk refused.
        """
        check_write(write)
        self._check_usable(urgent=urgent)
        if urgent:
            self._transact_urgently(tables.take, write)
        else:
            self._transact(tables.take, write)
        self._tip += len(write.batches)  # rows are numbered one by one

    def barrier(self) -> Awaitable[None]:
        """Complete when all that was committed so far would survive a power cut."""
        self._check_usable(urgent=True)
        return self._barrier.wait()

    def delete(self, session: SessionId) -> None:
        """Forget a session entirely; its bytes are overwritten. Unknown ones are no error."""
        self._forget([session])

    def prune(self, before_ms: int) -> list[SessionId]:
        """Delete what is closed or archived, was last changed before then, and has no agent."""
        gone = self._ask(tables.finished, before_ms)
        if gone:
            self._forget(gone)
        return gone

    def _forget(self, sessions: Sequence[SessionId]) -> None:
        self._check_usable(urgent=True)  # it makes room
        self._transact_urgently(tables.forget, sessions)
        self._tip = self._ask(tables.highest_batch)
        self._checkpoint()  # the write-ahead log still has the old pages

    # ---- reading --------------------------------------------------------------------------------

    def find(self, session: SessionId, key: InputKey) -> InputRow | None:
        """Return the ledger's row for a key."""
        return self._ask(tables.find, session, key)

    def read(self, session: SessionId, after: int, max_bytes: int) -> Sequence[Batch]:
        """Return what follows entry ``after``: at least one batch if there is any.

        The first one starts at ``after + 1`` exactly (known entries are cut off), and all
        bear the session's present epoch: an epoch names a history, so a client that stops
        half way through a replay holds a cursor that is good.

        Raises:
            StorageCorruptError: an entry is damaged or missing; none is passed over.
        """
        return self._ask(tables.read, session, max(after, 0), max_bytes)

    def load(self, session: SessionId) -> Loaded | None:
        """Return everything a session needs to go on, without its log."""
        return self._ask(tables.load, session)

    def sessions(self) -> Sequence[SessionRow]:
        """Return every session, oldest first."""
        return self._ask(tables.sessions)

    def live(self) -> Sequence[IncarnationRow]:
        """Return every incarnation that has not ended, oldest first."""
        return self._ask(tables.live)

    # ---- trouble, and the way out of it ---------------------------------------------------------

    def recover(self) -> None:
        """Work again, if the disk does; without trouble there is nothing to do.

        If committed steps did not survive, every epoch rises: load all sessions anew.

        Raises:
            StorageError: it does not yet, and nothing is accepted until it does.
        """
        if self._closed or self._trouble is None:
            self._check_usable()
            return
        try:
            if self._suspect:
                self._reopen()
            self._ballast.restore()
            self._bound_size()
            self._transact(schema.put_meta, "probe", _PROBE)
            self._transact(schema.put_meta, "probe", self._now_ms())
        except StorageError as error:
            self._trouble = error
            raise
        self._trouble = None

    def close(self) -> None:
        """Leave everything on disk, and say so in the file. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._trouble is None:
                self._transact(schema.put_meta, "clean", 1)
                self._checkpoint()
                self._barrier.start(lambda: None)
        finally:
            self._trouble, self._suspect = StorageError(f"{self._path}: closed"), True
            self._let_go()

    def _let_go(self) -> None:
        self._barrier.close()
        if self._wal is not None:
            self._wal.close()
        self._db.close()

    def _connect(self, *, verify: bool = False) -> sqlite3.Connection:
        connection = database.connect(self._path)
        try:
            schema.upgrade(connection, self._path)
            if verify or not schema.get_meta(connection, "clean", 1):
                database.verify(connection, self._path)
        except BaseException as error:
            connection.close()
            if isinstance(error, database.TROUBLE):
                raise database.storage_error(error, self._path) from error
            raise
        return connection

    def _begin(self, db: sqlite3.Connection) -> int:
        """Count this life of the gateway, and see how the last one ended."""
        boot = schema.get_meta(db, "boot", self._boot)
        if boot != self._boot and not schema.get_meta(db, "clean", 1):
            tables.raise_epochs(db)  # the machine went down under us
        generation = int(schema.get_meta(db, "generation", 0)) + 1
        self._sign(db, generation)
        return generation

    def _sign(self, db: sqlite3.Connection, generation: int) -> None:
        schema.put_meta(db, "generation", generation)
        schema.put_meta(db, "boot", self._boot)
        schema.put_meta(db, "clean", 0)
        schema.put_meta(db, "opened_ms", self._now_ms())

    def _reopen(self) -> None:
        if self._wal is not None:
            self._wal.close()
        self._db.close()
        database.forget_cached(self._path)
        database.guard(self._path)
        self._db = self._connect(verify=True)
        tip = self._ask(tables.highest_batch)
        if tip < self._tip:  # numbers that were seen must not come back for other content
            self._transact(tables.raise_epochs)
            self._tip = tip
        self._transact(self._sign, self.generation)  # it too may be among what was lost
        self._wal = self._sync_now()
        self._suspect = False

    def _sync_now(self) -> WalFile:
        wal = WalFile(self._path)
        try:
            wal.sync()
            sync_folder(self._path.parent)
        except BaseException as error:
            wal.close()
            if isinstance(error, OSError):
                raise database.storage_error(error, self._path.parent) from error
            raise
        self._barrier.start(wal.sync)
        return wal

    def _hold_ballast(self) -> None:
        try:
            self._ballast.restore()
        except StorageFullError as error:
            self._stop(error)  # open, but for urgent writes only until there is space
        self._bound_size()

    def _bound_size(self) -> None:
        if not self._max_bytes:
            return
        size = self._max_bytes + (0 if self._ballast.held else self._ballast.size)
        ((page_bytes,),) = self._ask(_pragma, "page_size")
        self._ask(_pragma, f"max_page_count = {size // page_bytes}")

    def _checkpoint(self) -> None:
        self._ask(_pragma, "wal_checkpoint(TRUNCATE)")

    def _check_usable(self, *, urgent: bool = False) -> None:
        trouble = self._trouble
        if trouble is None or (urgent and not self._suspect):
            return
        raise type(trouble)(str(trouble))

    def _stop(self, error: StorageError) -> None:
        self._trouble = error
        self._suspect = self._suspect or not isinstance(error, StorageFullError)

    def _sync_failed(self, error: StorageError) -> None:
        """Trust nothing after a failed sync, not even if it only said that the disk is full."""
        if not self._closed:
            self._trouble, self._suspect = StorageError(str(error)), True

    def _ask(
        self,
        question: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            return question(self._db, *args, **kwargs)
        except database.TROUBLE as error:
            raise database.storage_error(error, self._path) from error
        except (StorageCorruptError, msgspec.DecodeError) as error:
            raise StorageCorruptError(f"{self._path}: {error}") from error

    def _transact(
        self,
        step: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            result = step(self._db, *args, **kwargs)
            self._db.execute("COMMIT")
        except BaseException as error:
            self._undo()
            if isinstance(error, (UnicodeEncodeError, OverflowError, sqlite3.DataError)):
                raise LocalProtocolError(f"{self._path}: cannot keep that: {error}") from error
            if isinstance(error, database.TROUBLE):
                stop = database.storage_error(error, self._path)
                self._stop(stop)
                raise stop from error
            raise
        self._barrier.wrote()
        return result

    def _transact_urgently(
        self,
        step: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        try:
            return self._transact(step, *args, **kwargs)
        except StorageFullError:
            if not self._ballast.release():
                raise
        self._bound_size()
        return self._transact(step, *args, **kwargs)

    def _undo(self) -> None:
        try:
            if self._db.in_transaction:  # after some errors SQLite has done it already
                self._db.execute("ROLLBACK")
        except sqlite3.Error as error:
            self._stop(database.storage_error(error, self._path))


def _pragma(db: sqlite3.Connection, what: str) -> list[tuple[int, ...]]:
    return db.execute(f"PRAGMA {what}").fetchall()
