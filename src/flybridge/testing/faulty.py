"""A journal whose disk refuses on cue: to try a fault at every write there is."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

import msgspec

from flybridge.errors import StorageError, StorageFullError
from flybridge.model.deliveries import Batch
from flybridge.model.ids import InputKey, SessionId
from flybridge.session.ports import IncarnationRow, InputRow, Journal, Loaded, SessionRow, Write


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Calls ``first`` to ``last`` of a kind raise ``error``, counted from 1."""

    first: int
    last: int
    error: type[StorageError] = StorageError

    def hits(self, number: int) -> bool:
        return self.first <= number <= self.last


class FaultyJournal:
    """Passes everything on to ``inner``, but for the calls it is told to refuse.

    Like a real one it stops after a refusal: nothing of the refused step is there, and no
    commit or barrier gets through until :meth:`recover` does; with ``ballast``, an urgent
    commit still does when the disk is merely full.
    Only calls that reach the disk are counted; ``commits``, ``barriers`` and ``recoveries``
    tell how many did, so a first run without faults says how many there are to try.
    """

    def __init__(
        self,
        inner: Journal,
        *,
        commit: Fault | None = None,
        barrier: Fault | None = None,
        recover: Fault | None = None,
        ballast: bool = True,
    ) -> None:
        self.generation = inner.generation
        self.commits = 0
        self.barriers = 0
        self.recoveries = 0
        self._inner = inner
        self._commit = commit
        self._barrier = barrier
        self._recover = recover
        self._ballast = ballast
        self._trouble: StorageError | None = None

    @property
    def stopped(self) -> bool:
        """Whether it refuses everything until it has recovered."""
        return self._trouble is not None

    def commit(self, write: Write, *, urgent: bool = False) -> None:
        passes = urgent and self._ballast
        self._check(urgent=passes)
        self.commits += 1
        self._meet(self._commit, self.commits, urgent=passes)
        self._inner.commit(write, urgent=urgent)

    def barrier(self) -> Awaitable[None]:
        self._check(urgent=True)
        self.barriers += 1
        if self._barrier is not None and self._barrier.hits(self.barriers):
            return self._fail(self._barrier, self.barriers)
        return self._inner.barrier()

    def recover(self) -> None:
        if self._trouble is not None:
            self.recoveries += 1
            self._meet(self._recover, self.recoveries)
        self._inner.recover()
        self._trouble = None

    def find(self, session: SessionId, key: InputKey) -> InputRow | None:
        return self._inner.find(session, key)

    def read(self, session: SessionId, after: int, max_bytes: int) -> Sequence[Batch]:
        return self._inner.read(session, after, max_bytes)

    def load(self, session: SessionId) -> Loaded | None:
        return self._inner.load(session)

    def sessions(self) -> Sequence[SessionRow]:
        return self._inner.sessions()

    def live(self) -> Sequence[IncarnationRow]:
        return self._inner.live()

    def delete(self, session: SessionId) -> None:
        self._check()
        self._inner.delete(session)

    def close(self) -> None:
        self._inner.close()

    async def _fail(self, fault: Fault, number: int) -> None:
        # never "full" from here on: after a failed sync not even an urgent write is safe
        self._trouble = StorageError(f"barrier {number} was told to fail")
        raise fault.error(str(self._trouble))

    def _meet(self, fault: Fault | None, number: int, *, urgent: bool = False) -> None:
        if fault is None or not fault.hits(number):
            return
        self._trouble = fault.error(f"call {number} was told to fail")
        self._check(urgent=urgent)

    def _check(self, *, urgent: bool = False) -> None:
        trouble = self._trouble
        if trouble is None or (urgent and isinstance(trouble, StorageFullError)):
            return
        raise type(trouble)(str(trouble))
