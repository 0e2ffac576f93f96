from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings

from flybridge.errors import (
    LocalProtocolError,
    StorageCorruptError,
    StorageError,
    StorageFullError,
    StorageVersionError,
)
from flybridge.model.deliveries import Batch
from flybridge.model.ids import InputKey, SessionId
from flybridge.session.ports import Journal, Write
from flybridge.store.sqlite import SqliteJournal
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    batch_of,
    full_step,
    incarnation_row,
    input_row,
    read_all,
    session_row,
    told_by,
)
from tests.unit.store.model import Act, live, lives


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def opened(path: Path, *, boot: str = "boot", max_bytes: int = 0) -> SqliteJournal:
    return SqliteJournal.open(
        str(path), boot=boot, now_ms=lambda: 5, ballast_bytes=2**18, max_bytes=max_bytes
    )


def as_killed(path: Path, to: str) -> Path:
    """Copy the files as they are, while the journal is open: what kill -9 would leave."""
    return Path(shutil.copytree(path.parent, path.parent.parent / to)) / path.name


@settings(max_examples=30)
@given(acts=lives)
def test_any_life_is_the_one_of_a_plain_model(acts: list[Act]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "0" / "journal.db"
        path.parent.mkdir(mode=0o700)

        def restart(journal: Journal, clean: bool) -> Journal:
            nonlocal path
            if not clean:
                path = as_killed(path, str(int(path.parent.name) + 1))
            journal.close()
            return opened(path)

        live(acts, opened(path), restart)


# ---- its file -----------------------------------------------------------------------------------


def test_nobody_else_can_read_any_of_its_files(path: Path) -> None:
    journal = opened(path)
    journal.commit(full_step(1))
    names = {one.name for one in path.parent.iterdir()}
    assert names == {"journal.db", "journal.db-wal", "journal.db.ballast"}
    assert all(one.stat().st_mode & 0o077 == 0 for one in path.parent.iterdir())
    journal.close()


def test_a_clean_close_leaves_one_file_that_says_so(path: Path) -> None:
    journal = opened(path)
    journal.commit(full_step(1))
    journal.close()
    assert {one.name for one in path.parent.iterdir()} == {"journal.db", "journal.db.ballast"}
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT value FROM meta WHERE name = 'clean'").fetchone() == (1,)
    db.close()


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_an_open_folder_is_refused(path: Path, mode: int) -> None:
    path.parent.chmod(mode)
    with pytest.raises(StorageError, match="others may enter"):
        opened(path)
    assert not path.exists()


def test_a_journal_is_never_opened_through_a_link(path: Path) -> None:
    opened(path).close()
    link = path.with_name("link.db")
    link.symlink_to(path)
    with pytest.raises(StorageError, match="plain file"):
        opened(link)


def test_a_second_opening_is_refused_while_the_first_lasts(path: Path) -> None:
    journal = opened(path)
    with pytest.raises(StorageError, match="in use"):
        opened(path)
    journal.commit(full_step(1))
    journal.close()
    opened(path).close()


def test_a_newer_file_is_refused_and_left_alone(path: Path) -> None:
    opened(path).close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StorageVersionError, match="version 99"):
        opened(path)
    assert path.read_bytes() == before


def fill(path: Path) -> None:
    """Leave a journal of some pages."""
    journal = opened(path)
    for step in range(1, 4):
        journal.commit(full_step(step))
    journal.commit(Write(session=ONE, batches=[batch_of(7, 500)]))
    journal.close()


@pytest.mark.parametrize("keep", [0, 1, 100, 4096, 5000, 8192, -4096, -1])
def test_a_cut_file_is_refused_and_never_taken_for_an_empty_one(path: Path, keep: int) -> None:
    fill(path)
    data = path.read_bytes()
    path.write_bytes(data[:keep])
    with pytest.raises(StorageError, match=r"journal\.db"):
        opened(path)
    assert path.read_bytes() == data[:keep]


@pytest.mark.parametrize("content", [b"", b"junk" * 3000, b"SQLite format 3\0" + b"junk" * 3000])
def test_what_is_no_journal_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StorageCorruptError, match=r"journal\.db"):
        opened(path)
    assert path.read_bytes() == content


def test_a_flipped_bit_in_the_log_is_refused_or_harmless(path: Path) -> None:
    journal = opened(path)
    batches = [batch_of(1 + 400 * n, 400) for n in range(10)]
    journal.commit(Write(session=ONE, row=session_row(), batches=batches))
    right = read_all(journal, ONE, 0, PLENTY)
    journal.close()
    data = path.read_bytes()
    refused = 0
    for at in range(0, len(data), 499):
        broken = bytearray(data)
        broken[at] ^= 1 << at % 8
        path.write_bytes(broken)
        refused += not _reads(path, right)
    assert refused > len(data) / 499 / 2  # the log is a good part of the file


def _reads(path: Path, right: list[bytes]) -> bool:
    journal = None
    try:
        journal = opened(path)
        if journal.load(ONE) is None:
            return False  # the bit was in its name: it is missing, and the caller sees it
        assert read_all(journal, ONE, 0, PLENTY) == right
    except StorageError:
        return False
    finally:
        if journal is not None:
            try:
                journal.close()
            except StorageError:
                pass
    return True


def test_after_a_crash_the_whole_file_is_checked(path: Path) -> None:
    journal = opened(path)
    for step in range(1, 4):
        journal.commit(full_step(step))
    journal.close()
    journal = opened(path)
    copy = as_killed(path, "killed")
    journal.close()
    data = bytearray(copy.read_bytes())
    data[-4096:] = bytes(4096)  # a page that opening does not read
    copy.write_bytes(data)
    with pytest.raises(StorageCorruptError):
        opened(copy)


# ---- what it takes ------------------------------------------------------------------------------


def test_what_cannot_be_stored_is_our_fault_and_no_trouble(path: Path) -> None:
    journal = opened(path)
    journal.commit(full_step(1))
    before = told_by(journal)
    for row in (input_row("half \ud83d"), input_row("me:2", stage="\ud83d")):
        with pytest.raises(LocalProtocolError, match="cannot keep"):
            journal.commit(Write(session=ONE, claims=[row]))
    with pytest.raises(LocalProtocolError, match="cannot keep"):
        journal.commit(Write(session=ONE, outbox_done=(2**63,)))
    assert told_by(journal) == before
    journal.commit(full_step(2))
    journal.close()


def test_a_batch_comes_back_byte_for_byte(path: Path) -> None:
    journal = opened(path)
    wire = bytes(byte for byte in range(256) if byte != 10) * 5000
    batch = Batch(session=ONE, epoch=1, first_seq=1, count=1, wire=wire)
    journal.commit(Write(session=ONE, row=session_row(), batches=[batch]))
    assert list(journal.read(ONE, 0, 1)) == [batch]
    journal.close()


def test_a_deleted_session_leaves_no_byte_behind(path: Path) -> None:
    journal = opened(path)
    secret = b"a rather secret thing"
    batch = Batch(session=ONE, epoch=1, first_seq=1, count=1, wire=secret * 2000)
    journal.commit(Write(session=ONE, row=session_row(), batches=[batch]))
    journal.delete(ONE)
    assert all(secret not in one.read_bytes() for one in path.parent.iterdir())
    journal.close()


def test_retention_spares_what_is_open_young_or_alive(path: Path) -> None:
    journal = opened(path)
    for name in ("open", "young", "alive", "archived", "closed"):
        row = session_row(SessionId(name))
        row.closed = name not in ("open", "archived")
        row.archived = name == "archived"
        row.changed_ms = 100 if name == "young" else 99
        life = incarnation_row("inc_1", session=row.session) if name == "alive" else None
        journal.commit(Write(session=row.session, row=row, incarnation=life))
    assert journal.prune(100) == ["archived", "closed"]
    assert [row.session for row in journal.sessions()] == ["open", "young", "alive"]
    assert journal.prune(100) == []
    journal.close()


def test_the_log_of_writes_does_not_grow_without_end(path: Path) -> None:
    journal = opened(path)
    journal.commit(Write(session=ONE, row=session_row()))
    for seq in range(1, 1500):
        journal.commit(Write(session=ONE, batches=[batch_of(seq)]))
        if seq % 100 == 0:
            journal.read(ONE, 0, 1)  # a reader that stops early must not hold it up
    assert path.with_name("journal.db-wal").stat().st_size < 2 * 256 * 4200
    journal.close()


# ---- barriers -----------------------------------------------------------------------------------


async def test_a_crowd_at_the_barrier_is_let_through(path: Path) -> None:
    journal = opened(path)
    journal.commit(Write(session=ONE, row=session_row()))
    seq = 0

    async def step() -> None:
        nonlocal seq
        seq += 1
        journal.commit(Write(session=ONE, batches=[batch_of(seq)]))
        await journal.barrier()

    await asyncio.gather(*(step() for _ in range(200)))
    assert journal.sessions()[0].last_seq == 200
    journal.close()


async def test_a_journal_whose_files_were_taken_away_says_so(path: Path) -> None:
    journal = opened(path)
    journal.commit(full_step(1))
    path.with_name("journal.db-wal").unlink()
    with pytest.raises(StorageError):
        await journal.barrier()
    for urgent in (False, True):
        with pytest.raises(StorageError):
            journal.commit(full_step(2), urgent=urgent)
    with pytest.raises(StorageError):
        journal.barrier()
    journal.recover()
    journal.close()


async def test_closing_lets_those_through_who_wait(path: Path) -> None:
    journal = opened(path)
    journal.commit(full_step(1))
    waiting = [asyncio.ensure_future(journal.barrier())]
    journal.commit(full_step(2))
    waiting += [asyncio.ensure_future(journal.barrier()) for _ in range(5)]
    journal.close()
    await asyncio.gather(*waiting)


# ---- bounds -------------------------------------------------------------------------------------


def fill_up(journal: SqliteJournal) -> int:
    """Commit until it is full, and check that the step that failed left nothing."""
    seq = 1
    while True:
        before = told_by(journal)
        batch = Batch(session=ONE, epoch=1, first_seq=seq, count=1, wire=b"x" * 9000)
        step = Write(session=ONE, batches=[batch], claims=[input_row(f"me:{seq}")])
        try:
            journal.commit(step)
        except StorageFullError:
            assert told_by(journal) == before
            return seq
        seq += 1


def big(seq: int) -> Write:
    return Write(
        session=ONE,
        batches=[Batch(session=ONE, epoch=1, first_seq=seq, count=1, wire=b"y" * 9000)],
    )


def test_a_full_journal_takes_only_what_is_urgent(path: Path) -> None:
    journal = opened(path, max_bytes=2**18)
    journal.commit(Write(session=ONE, row=session_row()))
    seq = fill_up(journal)
    small = Write(session=ONE, claims=[input_row("small")])
    with pytest.raises(StorageFullError):  # no matter how small
        journal.commit(small)
    assert path.with_name("journal.db.ballast").exists()
    journal.commit(big(seq), urgent=True)
    assert not path.with_name("journal.db.ballast").exists()
    journal.commit(big(seq + 1), urgent=True)
    with pytest.raises(StorageFullError):
        journal.commit(small)
    assert journal.sessions()[0].last_seq == seq + 1
    journal.close()


def test_even_what_is_urgent_has_a_bound(path: Path) -> None:
    journal = opened(path, max_bytes=2**18)
    journal.commit(Write(session=ONE, row=session_row()))
    seq = fill_up(journal)

    def go_on() -> None:
        for more in range(seq, seq + 200):
            journal.commit(big(more), urgent=True)

    with pytest.raises(StorageFullError):
        go_on()
    assert path.stat().st_size < 2**20
    journal.close()


def test_work_goes_on_when_there_is_room_again(path: Path) -> None:
    journal = opened(path, max_bytes=2**18)
    journal.commit(Write(session=ONE, row=session_row()))
    other = SessionId("ses_other")
    journal.commit(Write(session=other, row=session_row(other)))
    seq = fill_up(journal)
    journal.commit(big(seq), urgent=True)
    with pytest.raises(StorageFullError):
        journal.recover()
    journal.delete(ONE)  # deleting is always allowed: it makes room
    journal.recover()
    assert path.with_name("journal.db.ballast").exists()
    journal.commit(Write(session=other, batches=[batch_of(1, session=other)]))
    journal.close()
    journal = opened(path, boot="other")
    assert [(row.session, row.epoch) for row in journal.sessions()] == [(other, 1)]
    journal.close()


def test_a_journal_without_trouble_has_nothing_to_recover_from(path: Path) -> None:
    journal = opened(path)
    journal.recover()
    journal.commit(full_step(1))
    journal.close()
    with pytest.raises(StorageError, match="closed"):
        journal.recover()
    ask: list[Callable[[], object]] = [
        journal.sessions,
        journal.live,
        lambda: journal.find(ONE, InputKey("me:1")),
        lambda: journal.read(ONE, 0, 1),
        lambda: journal.delete(ONE),
        lambda: journal.prune(0),
    ]
    for one in ask:
        with pytest.raises(StorageError):
            one()


def test_ballast_that_cannot_be_had_at_all_is_said_at_the_start(path: Path) -> None:
    with pytest.raises(StorageError, match="ballast"):
        SqliteJournal.open(str(path), boot="boot", ballast_bytes=2**62)
    opened(path).close()
