from __future__ import annotations

import pytest
from hypothesis import given

from flybridge.errors import StorageError
from flybridge.model.ids import InputKey, SessionId
from flybridge.session.ports import Journal, Write
from flybridge.store.memory import Disk, MemoryJournal
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    TWO,
    batch_of,
    full_step,
    incarnation_row,
    input_row,
    read_all,
    session_row,
    told_by,
)
from tests.unit.store.model import Act, live, lives


@given(acts=lives)
def test_any_life_is_the_one_of_a_plain_model(acts: list[Act]) -> None:
    disk = Disk()

    def restart(journal: Journal, clean: bool) -> Journal:
        if clean:
            journal.close()
        return MemoryJournal(disk)

    live(acts, MemoryJournal(disk), restart)


async def test_a_power_cut_takes_what_no_barrier_covered() -> None:
    disk = Disk()
    journal = MemoryJournal(disk, boot="one")
    journal.commit(full_step(1))
    await journal.barrier()
    before = told_by(journal)
    journal.commit(full_step(2))
    assert len(read_all(journal, ONE, 0, PLENTY)) == 4
    disk.power_loss()
    with pytest.raises(StorageError):
        journal.commit(full_step(3))
    journal = MemoryJournal(disk, boot="one")
    assert told_by(journal) == before
    journal.commit(full_step(2))
    disk.power_loss()
    loaded = MemoryJournal(disk, boot="two").load(ONE)
    assert loaded is not None
    assert (loaded.row.epoch, loaded.row.last_seq) == (2, 2)


def test_a_clean_close_needs_no_barrier() -> None:
    disk = Disk()
    journal = MemoryJournal(disk)
    journal.commit(full_step(1))
    journal.close()
    disk.power_loss()
    journal = MemoryJournal(disk, boot="other")
    assert len(read_all(journal, ONE, 0, PLENTY)) == 2
    assert journal.sessions()[0].epoch == 1


def test_a_new_life_ends_the_old_one() -> None:
    old = MemoryJournal()
    old.commit(full_step(1))
    new = old.reopen()
    assert new.generation == old.generation + 1
    assert new.disk is old.disk
    for ask in (old.sessions, old.live, old.recover, old.barrier):
        with pytest.raises(StorageError):
            ask()
    assert new.find(ONE, InputKey("me:1")) == input_row("me:1")
    old.close()  # says nothing, changes nothing
    assert new.reopen(boot="other").sessions()[0].epoch == 2


def test_retention_spares_what_is_open_young_or_alive() -> None:
    journal = MemoryJournal()
    names = ["open", "young", "alive", "archived", "closed"]
    for name in names:
        row = session_row(SessionId(name))
        row.closed = name not in ("open", "archived")
        row.archived = name == "archived"
        row.changed_ms = 100 if name == "young" else 99
        write = Write(session=row.session, row=row)
        if name == "alive":
            write.incarnation = incarnation_row("inc_1", session=row.session)
        journal.commit(write)
    assert journal.prune(100) == ["archived", "closed"]
    assert [row.session for row in journal.sessions()] == ["open", "young", "alive"]
    assert journal.prune(100) == []


def test_two_disks_are_two_worlds() -> None:
    one, two = MemoryJournal(), MemoryJournal()
    one.commit(Write(session=TWO, row=session_row(TWO), batches=[batch_of(1, session=TWO)]))
    assert two.load(TWO) is None
