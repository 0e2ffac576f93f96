from __future__ import annotations

import pytest

from flybridge.errors import StorageCorruptError, StorageError, StorageFullError
from flybridge.store.memory import MemoryJournal
from flybridge.testing.faulty import Fault, FaultyJournal
from flybridge.testing.steps import ONE, PLENTY, full_step, read_all, told_by


def test_every_commit_can_be_the_one_that_fails() -> None:
    for number in range(1, 5):
        journal = FaultyJournal(MemoryJournal(), commit=Fault(first=number, last=number))
        for step in range(1, 5):
            before = told_by(journal)
            if step == number:
                with pytest.raises(StorageError, match=f"call {number}"):
                    journal.commit(full_step(step))
                assert journal.stopped
                assert told_by(journal) == before
                with pytest.raises(StorageError):
                    journal.commit(full_step(step))
                with pytest.raises(StorageError):
                    journal.delete(ONE)
                journal.recover()
                assert not journal.stopped
            journal.commit(full_step(step))
        assert (journal.commits, journal.recoveries) == (5, 1)
        assert len(read_all(journal, ONE, 0, PLENTY)) == 8


async def test_a_barrier_that_fails_made_nothing_last() -> None:
    inner = MemoryJournal()
    fault = Fault(first=2, last=3, error=StorageFullError)
    journal = FaultyJournal(inner, barrier=fault)
    await journal.barrier()
    journal.commit(full_step(1))
    for _ in range(2):
        with pytest.raises(StorageFullError):
            await journal.barrier()
        with pytest.raises(StorageError):  # not even if it is urgent
            journal.commit(full_step(2), urgent=True)
        with pytest.raises(StorageError):
            journal.barrier()
        journal.recover()
    inner.disk.power_loss()
    assert MemoryJournal(inner.disk).load(ONE) is None
    assert journal.barriers == 3


def test_an_urgent_commit_passes_a_full_disk_while_there_is_ballast() -> None:
    for ballast in (True, False):
        fault = Fault(first=1, last=99, error=StorageFullError)
        journal = FaultyJournal(MemoryJournal(), commit=fault, ballast=ballast)
        with pytest.raises(StorageFullError):
            journal.commit(full_step(1))
        if ballast:
            journal.commit(full_step(1), urgent=True)
        else:
            with pytest.raises(StorageFullError):
                journal.commit(full_step(1), urgent=True)
        assert len(read_all(journal, ONE, 0, PLENTY)) == (2 if ballast else 0)
        with pytest.raises(StorageFullError):
            journal.commit(full_step(2))


def test_a_recovery_can_fail_too() -> None:
    fault = Fault(first=1, last=1)
    refusal = Fault(first=1, last=2, error=StorageCorruptError)
    journal = FaultyJournal(MemoryJournal(), commit=fault, recover=refusal)
    with pytest.raises(StorageError):
        journal.commit(full_step(1))
    for _ in range(2):
        with pytest.raises(StorageCorruptError):
            journal.recover()
        assert journal.stopped
    journal.recover()
    journal.commit(full_step(1))
    assert [row.session for row in journal.sessions()] == [ONE]
    assert len(journal.live()) == 1
