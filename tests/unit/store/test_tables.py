from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from flybridge.errors import (
    LocalProtocolError,
    RequestReusedError,
    SessionNotFoundError,
    StorageCorruptError,
)
from flybridge.model.ids import InputKey, ItemId
from flybridge.session.ports import Draft, Line, OutLine, Write
from flybridge.store import schema, tables
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    TWO,
    batch_of,
    full_step,
    incarnation_row,
    input_row,
    session_row,
)


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.build(db)
    yield db
    db.close()


def test_a_whole_step_is_found_again(db: sqlite3.Connection) -> None:
    step = full_step(1)
    tables.take(db, step)
    loaded = tables.load(db, ONE)
    assert loaded is not None
    assert loaded.row.last_seq == 2
    assert loaded.snapshot == step.snapshot
    assert loaded.place == step.place
    assert loaded.outbox == step.outbox
    assert loaded.drafts == step.drafts
    assert loaded.incarnation == step.incarnation
    assert tables.find(db, ONE, InputKey("me:1")) == step.claims[0]
    assert tables.read(db, ONE, 0, PLENTY) == step.batches
    assert tables.sessions(db) == [loaded.row]
    assert tables.live(db) == [step.incarnation]
    assert tables.highest_batch(db) == 2


def test_nothing_is_found_where_nothing_is(db: sqlite3.Connection) -> None:
    assert tables.load(db, ONE) is None
    assert tables.find(db, ONE, InputKey("me:1")) is None
    assert tables.read(db, ONE, 0, PLENTY) == []
    assert tables.highest_batch(db) == 0
    tables.take(db, Write(session=ONE, row=session_row()))
    loaded = tables.load(db, ONE)
    assert loaded is not None
    assert (loaded.snapshot, loaded.place, loaded.incarnation) == (None, None, None)


@pytest.mark.parametrize(
    ("step", "error"),
    [
        (Write(session=TWO), SessionNotFoundError),
        (Write(session=ONE, batches=[batch_of(4)]), LocalProtocolError),
        (Write(session=ONE, claims=[input_row("me:1")]), RequestReusedError),
        (Write(session=ONE, inputs=[input_row("me:2")]), LocalProtocolError),
        (Write(session=ONE, outbox=[OutLine(1, Line(data=b""))]), LocalProtocolError),
    ],
)
def test_a_step_that_does_not_fit_is_refused(
    db: sqlite3.Connection, step: Write, error: type[Exception]
) -> None:
    tables.take(db, full_step(1))
    with pytest.raises(error):
        tables.take(db, step)


def test_half_a_character_is_kept_as_it_came(db: sqlite3.Connection) -> None:
    drafts = {ItemId("itm_1"): Draft(1, "half \ud83d"), ItemId("itm_2"): Draft(2, "\x00")}
    tables.take(db, Write(session=ONE, row=session_row(), drafts=drafts))
    loaded = tables.load(db, ONE)
    assert loaded is not None
    assert loaded.drafts == drafts


def test_epochs_rise_together_and_batches_bear_the_present_one(db: sqlite3.Connection) -> None:
    for session in (ONE, TWO):
        batch = batch_of(1, session=session)
        tables.take(db, Write(session=session, row=session_row(session), batches=[batch]))
    tables.raise_epochs(db)
    assert [row.epoch for row in tables.sessions(db)] == [2, 2]
    tables.take(db, Write(session=ONE, batches=[batch_of(2, epoch=2)]))
    assert [batch.epoch for batch in tables.read(db, ONE, 0, PLENTY)] == [2, 2]


def test_a_forgotten_session_leaves_no_row(db: sqlite3.Connection) -> None:
    tables.take(db, full_step(1))
    tables.take(db, Write(session=TWO, row=session_row(TWO)))
    tables.forget(db, [ONE])
    for table in tables.OF_A_SESSION:
        rows = db.execute(f"SELECT count(*) FROM {table} WHERE session = ?", (ONE,))
        assert rows.fetchone() == (0,)
    assert [row.session for row in tables.sessions(db)] == [TWO]


def test_every_table_with_a_session_is_forgotten(db: sqlite3.Connection) -> None:
    names = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    assert set(names) - {"meta"} == set(tables.OF_A_SESSION)


def test_only_what_is_over_old_and_dead_is_finished(db: sqlite3.Connection) -> None:
    row = session_row()
    row.changed_ms = 99
    tables.take(db, Write(session=ONE, row=row))
    assert tables.finished(db, 100) == []
    row.archived = True
    life = incarnation_row("inc_1")
    tables.take(db, Write(session=ONE, row=row, incarnation=life))
    assert tables.finished(db, 100) == []
    life.state = "ended"
    tables.take(db, Write(session=ONE, incarnation=life))
    assert tables.finished(db, 99) == []
    assert tables.finished(db, 100) == [ONE]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE batches SET wire = CAST(replace(wire, '2', '3') AS BLOB) WHERE first_seq = 2",
        "UPDATE batches SET crc = crc + 1 WHERE first_seq = 2",
        "UPDATE batches SET first_seq = 7 WHERE first_seq = 2",
        "UPDATE batches SET count = 2 WHERE first_seq = 1",
        "DELETE FROM batches WHERE first_seq = 2",
        "DELETE FROM batches WHERE first_seq = 3",
        "DELETE FROM batches",
    ],
)
def test_no_damage_is_passed_over_in_silence(db: sqlite3.Connection, damage: str) -> None:
    batches = [batch_of(1), batch_of(2), batch_of(3)]
    tables.take(db, Write(session=ONE, row=session_row(), batches=batches))
    db.execute(damage)
    with pytest.raises(StorageCorruptError, match="ses_one"):
        tables.read(db, ONE, 0, PLENTY)


def test_a_key_is_found_without_a_search(db: sqlite3.Connection) -> None:
    for sql in (
        "SELECT body FROM inputs WHERE session = ? AND key = ?",
        "SELECT wire FROM batches WHERE session = ? AND first_seq >= ? ORDER BY first_seq",
    ):
        plan = " ".join(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", ("a", "b")))
        assert "SEARCH" in plan
        assert "SCAN" not in plan
        assert "TEMP B-TREE" not in plan
