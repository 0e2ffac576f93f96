"""What every journal must do, as tests to inherit.

    class TestMine(JournalContract):
        def rig(self, folder: Path) -> JournalRig:
            return MyRig(folder)

A rig knows how to open the journal under test, again and again on the same storage, and how
to end one the hard way. The kit needs no test framework beyond one that runs ``test_``
methods and gives them an empty folder as ``tmp_path``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from flybridge.errors import (
    FlybridgeError,
    LocalProtocolError,
    RequestReusedError,
    SessionNotFoundError,
    StorageError,
)
from flybridge.model.ids import InputKey, ItemId, SessionId
from flybridge.session.ports import Draft, Journal, Line, OutLine, SessionRow, Write
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    TWO,
    batch_of,
    faulty_steps,
    full_step,
    incarnation_row,
    input_row,
    lines_of,
    read_all,
    session_row,
    told_by,
)


class JournalRig(Protocol):
    """One piece of storage, and the journals that come and go on it."""

    def open(self, *, boot: str = "boot-1") -> Journal:
        """Open the journal; the storage is new the first time and kept from then on."""

    def kill(self, journal: Journal) -> None:
        """End it as kill -9 would: nothing of its own runs, what was committed stays."""


class JournalContract:
    """Inherit, say how to make a rig, and let the ``test_`` methods run."""

    def rig(self, folder: Path) -> JournalRig:
        """Return a rig on new storage, for which ``folder`` may be used."""
        raise NotImplementedError

    # the log

    def test_what_was_committed_is_read_back_in_order(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        steps = [batch_of(1), batch_of(2, 3), batch_of(5, 2)]
        for batch in steps:
            journal.commit(Write(session=ONE, batches=[batch]))
        assert read_all(journal, ONE, 0, PLENTY) == lines_of(*steps)
        assert _row_of(journal).last_seq == 6
        journal.close()

    def test_a_reader_may_start_after_any_entry(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        steps = [batch_of(1, 4), batch_of(5), batch_of(6, 5)]
        journal.commit(Write(session=ONE, batches=steps))
        every = lines_of(*steps)
        for after in range(11):
            for max_bytes in (0, 60, PLENTY):
                assert read_all(journal, ONE, after, max_bytes) == every[after:]
        assert not journal.read(ONE, 10, PLENTY)
        assert not journal.read(ONE, 99, PLENTY)
        journal.close()

    def test_a_read_is_bounded_but_never_empty_handed(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        steps = [batch_of(seq) for seq in range(1, 9)]
        journal.commit(Write(session=ONE, batches=steps))
        size = len(steps[0].wire)
        assert len(journal.read(ONE, 0, 3 * size)) == 3
        assert len(journal.read(ONE, 0, 3 * size - 1)) == 2
        assert len(journal.read(ONE, 0, 1)) == 1
        journal.close()

    def test_sessions_do_not_mix(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path), ONE, TWO)
        for seq in range(1, 4):
            for session in (ONE, TWO):
                claim = input_row("me:same" if seq == 1 else f"me:{seq}", session=session)
                batch = batch_of(seq, session=session)
                journal.commit(Write(session=session, batches=[batch], claims=[claim]))
        for session in (ONE, TWO):
            mine = lines_of(*[batch_of(seq, session=session) for seq in range(1, 4)])
            assert read_all(journal, session, 0, PLENTY) == mine
        assert [row.session for row in journal.sessions()] == [ONE, TWO]
        journal.close()

    def test_a_number_is_neither_left_out_nor_used_twice(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        journal.commit(Write(session=ONE, batches=[batch_of(1, 3)]))
        for first in (1, 3, 5):
            with refused(LocalProtocolError):
                journal.commit(Write(session=ONE, batches=[batch_of(first)]))
        with refused(LocalProtocolError):
            journal.commit(Write(session=ONE, batches=[batch_of(4), batch_of(6)]))
        assert len(read_all(journal, ONE, 0, PLENTY)) == 3
        journal.commit(Write(session=ONE, batches=[batch_of(4)]))
        journal.close()

    def test_a_batch_of_another_epoch_is_refused(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        with refused(LocalProtocolError):
            journal.commit(Write(session=ONE, batches=[batch_of(1, epoch=2)]))
        journal.close()

    def test_a_step_of_an_unknown_session_is_refused(self, tmp_path: Path) -> None:
        journal = self.rig(tmp_path).open()
        with refused(SessionNotFoundError):
            journal.commit(Write(session=ONE, batches=[batch_of(1)]))
        assert journal.load(ONE) is None
        assert not journal.read(ONE, 0, PLENTY)
        assert journal.find(ONE, InputKey("me:1")) is None
        journal.close()

    # the ledger

    def test_a_key_is_claimed_once(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        journal.commit(Write(session=ONE, claims=[input_row()]))
        with refused(RequestReusedError):
            journal.commit(Write(session=ONE, claims=[input_row(stage="other")]))
        assert journal.find(ONE, InputKey("me:1")) == input_row()
        journal.close()

    def test_a_taken_key_fails_the_whole_step(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        journal.commit(full_step(1))
        before = told_by(journal)
        step = full_step(2)
        step.claims.append(input_row("me:1"))
        with refused(RequestReusedError):
            journal.commit(step)
        assert told_by(journal) == before
        journal.close()

    def test_an_input_moves_on_and_only_a_claimed_one(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        with refused(LocalProtocolError):
            journal.commit(Write(session=ONE, inputs=[input_row(stage="written")]))
        journal.commit(Write(session=ONE, claims=[input_row()]))
        moved = replace(input_row(stage="written"), number=7, attempt=2, seq=3)
        journal.commit(Write(session=ONE, inputs=[moved]))
        assert journal.find(ONE, InputKey("me:1")) == moved
        journal.close()

    # what a session goes on from

    def test_the_outbox_holds_what_is_not_done(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        kept = [
            OutLine(2, Line(data=b"two", key=InputKey("me:2"), on_restart="drop")),
            OutLine(10, Line(data=b"ten\x00\xff")),
        ]
        journal.commit(Write(session=ONE, outbox=[OutLine(1, Line(data=b"one")), kept[1]]))
        journal.commit(Write(session=ONE, outbox=[kept[0]], outbox_done=(1,)))
        assert _outbox(journal) == kept
        with refused(LocalProtocolError):
            journal.commit(Write(session=ONE, outbox=[OutLine(10, Line(data=b"other"))]))
        again = OutLine(2, Line(data=b"a new life counts from the start"))
        journal.commit(Write(session=ONE, outbox=[again], outbox_done=(2, 10)))
        assert _outbox(journal) == [again]
        journal.close()

    def test_a_secret_line_is_never_kept(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        with refused(LocalProtocolError):
            secret = OutLine(1, Line(data=b"hunter2", secret=True))
            journal.commit(Write(session=ONE, outbox=[secret]))
        assert _outbox(journal) == []
        journal.close()

    def test_a_draft_is_replaced_until_it_is_gone(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        one, two = ItemId("itm_1"), ItemId("itm_2")
        journal.commit(Write(session=ONE, drafts={one: Draft(1, "a"), two: Draft(1, "é\x00")}))
        journal.commit(Write(session=ONE, drafts={one: Draft(5, "abcde")}))
        assert _drafts(journal) == {one: Draft(5, "abcde"), two: Draft(1, "é\x00")}
        journal.commit(Write(session=ONE, drafts={one: Draft(6, "x")}, drafts_gone=(one,)))
        assert _drafts(journal) == {two: Draft(1, "é\x00")}
        journal.close()

    def test_the_latest_life_is_loaded_and_the_living_are_listed(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path), ONE, TWO)
        first, second = incarnation_row("inc_1"), incarnation_row("inc_2")
        other = incarnation_row("inc_3", session=TWO)
        for row in (first, second, other):
            journal.commit(Write(session=row.session, incarnation=row))
        ended = replace(first, state="ended", agent_pid=7)
        journal.commit(Write(session=ONE, incarnation=ended))
        loaded = journal.load(ONE)
        assert loaded is not None
        assert loaded.incarnation == second
        assert {row.incarnation for row in journal.live()} == {"inc_2", "inc_3"}
        journal.close()

    def test_a_session_row_changes_without_moving_its_log(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        journal.commit(Write(session=ONE, batches=[batch_of(1, 2)]))
        renamed = session_row()
        renamed.title, renamed.epoch, renamed.last_seq = "new", 9, 99
        renamed.labels["more"] = "b"
        journal.commit(Write(session=ONE, row=renamed))
        row = _row_of(journal)
        assert (row.title, row.epoch, row.last_seq) == ("new", 1, 2)
        assert row.labels == {"slot": "a", "more": "b"}
        assert list(journal.sessions()) == [row]
        journal.close()

    def test_a_snapshot_cannot_be_ahead_of_the_log(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        with refused(LocalProtocolError):
            journal.commit(Write(session=ONE, batches=[batch_of(1)], snapshot=(2, b"state")))
        journal.commit(Write(session=ONE, batches=[batch_of(1)], snapshot=(1, b"state")))
        loaded = journal.load(ONE)
        assert loaded is not None
        assert loaded.snapshot == (1, b"state")
        journal.close()

    def test_a_refused_step_leaves_nothing(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        journal.commit(full_step(1))
        before = told_by(journal)
        for step in faulty_steps():
            with refused(FlybridgeError):
                journal.commit(step)
            assert told_by(journal) == before
        journal.commit(full_step(2))
        journal.close()

    def test_the_journal_keeps_no_hand_on_what_it_was_given(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        step = full_step(1)
        journal.commit(step)
        before = told_by(journal)
        step.claims[0].stage = "changed"
        step.batches.clear()
        step.outbox.clear()
        step.drafts.clear()
        assert step.row is not None
        step.row.labels["changed"] = "yes"
        found = journal.find(ONE, InputKey("me:1"))
        assert found is not None
        found.stage = "changed"
        _row_of(journal).labels["changed"] = "yes"
        assert told_by(journal) == before
        journal.close()

    def test_a_deleted_session_is_gone(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path), ONE, TWO)
        journal.commit(full_step(1))
        journal.commit(Write(session=TWO, batches=[batch_of(1, session=TWO)]))
        journal.delete(ONE)
        journal.delete(SessionId("ses_never"))
        assert journal.load(ONE) is None
        assert journal.find(ONE, InputKey("me:1")) is None
        assert not journal.read(ONE, 0, PLENTY)
        assert not journal.live()
        with refused(SessionNotFoundError):
            journal.commit(Write(session=ONE, batches=[batch_of(3)]))
        assert len(read_all(journal, TWO, 0, PLENTY)) == 1
        journal.commit(full_step(1))  # the same id may be used for a new one
        journal.close()

    # over the end of a gateway

    def test_a_committed_step_survives_kill_9(self, tmp_path: Path) -> None:
        rig = self.rig(tmp_path)
        journal = rig.open()
        journal.commit(full_step(1))
        before = told_by(journal)
        rig.kill(journal)
        journal = rig.open()
        assert told_by(journal) == before
        journal.commit(full_step(2))
        journal.close()
        journal = rig.open()
        assert len(read_all(journal, ONE, 0, PLENTY)) == 4
        journal.close()

    def test_the_generation_rises_at_each_opening(self, tmp_path: Path) -> None:
        rig = self.rig(tmp_path)
        first = rig.open()
        rig.kill(first)
        second = rig.open()
        second.close()
        third = rig.open()
        assert first.generation < second.generation < third.generation
        third.close()

    def test_the_epoch_rises_only_when_the_machine_went_down(self, tmp_path: Path) -> None:
        rig = self.rig(tmp_path)
        journal = _opened(rig)
        journal.commit(Write(session=ONE, batches=[batch_of(1)]))
        rig.kill(journal)
        journal = rig.open()
        assert _row_of(journal).epoch == 1  # killed, same boot
        journal.close()
        journal = rig.open(boot="boot-2")
        assert _row_of(journal).epoch == 1  # closed cleanly
        rig.kill(journal)
        journal = rig.open(boot="boot-3")
        assert _row_of(journal).epoch == 2
        assert [batch.epoch for batch in journal.read(ONE, 0, PLENTY)] == [2]
        with refused(LocalProtocolError):
            journal.commit(Write(session=ONE, batches=[batch_of(2)]))
        journal.commit(Write(session=ONE, batches=[batch_of(2, epoch=2)]))
        journal.close()

    def test_a_barrier_completes(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))

        async def wait() -> None:
            await journal.barrier()
            for step in (1, 2):
                journal.commit(full_step(step), urgent=step == 2)
                await asyncio.gather(_waited(journal), _waited(journal))

        asyncio.run(wait())
        journal.recover()
        assert len(read_all(journal, ONE, 0, PLENTY)) == 4
        journal.close()

    def test_a_closed_journal_takes_nothing(self, tmp_path: Path) -> None:
        journal = _opened(self.rig(tmp_path))
        journal.close()
        journal.close()
        for urgent in (False, True):
            with refused(StorageError):
                journal.commit(Write(session=ONE, batches=[batch_of(1)]), urgent=urgent)
        with refused(StorageError):
            journal.load(ONE)
        with refused(StorageError):
            journal.recover()


@contextmanager
def refused(kind: type[FlybridgeError]) -> Iterator[None]:
    """Pass if, and only if, this is raised inside."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was not raised")


def _opened(rig: JournalRig, *sessions: SessionId) -> Journal:
    journal = rig.open()
    for session in sessions or (ONE,):
        journal.commit(Write(session=session, row=session_row(session)))
    return journal


def _row_of(journal: Journal, session: SessionId = ONE) -> SessionRow:
    loaded = journal.load(session)
    assert loaded is not None
    return loaded.row


async def _waited(journal: Journal) -> None:
    await journal.barrier()


def _outbox(journal: Journal) -> list[OutLine]:
    loaded = journal.load(ONE)
    assert loaded is not None
    return loaded.outbox


def _drafts(journal: Journal) -> dict[ItemId, Draft]:
    loaded = journal.load(ONE)
    assert loaded is not None
    return loaded.drafts
