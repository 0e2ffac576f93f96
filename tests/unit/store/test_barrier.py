from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from flybridge.errors import StorageError
from flybridge.store.barrier import Barrier, WalFile, sync_file, sync_folder


class Disk:
    """Syncs only when it is told to, and counts."""

    def __init__(self) -> None:
        self.syncs = 0
        self.started = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.error: Exception | None = None

    def sync(self) -> None:
        self.started.release()
        assert self.go.acquire(timeout=10)
        self.syncs += 1
        if self.error is not None:
            raise self.error

    async def has_started(self) -> None:
        assert await asyncio.to_thread(self.started.acquire, timeout=10)


def made(disk: Disk) -> tuple[Barrier, list[StorageError]]:
    failed: list[StorageError] = []
    barrier = Barrier(failed.append)
    barrier.start(disk.sync)
    return barrier, failed


async def test_with_nothing_written_there_is_nothing_to_wait_for() -> None:
    disk = Disk()
    barrier, _ = made(disk)
    await barrier.wait()
    assert disk.syncs == 0
    barrier.close()


async def test_those_who_come_during_a_sync_share_the_next() -> None:
    disk = Disk()
    barrier, _ = made(disk)
    barrier.wrote()
    first = barrier.wait()
    await disk.has_started()
    same = barrier.wait()  # nothing was written since: the running sync covers it
    barrier.wrote()
    others = [barrier.wait()]
    barrier.wrote()
    others += [barrier.wait() for _ in range(50)]
    disk.go.release()
    await first
    await same
    assert disk.syncs == 1
    await disk.has_started()
    assert not any(asyncio.ensure_future(one).done() for one in others)
    disk.go.release()
    await asyncio.gather(*others)
    assert disk.syncs == 2
    await barrier.wait()
    assert disk.syncs == 2
    barrier.close()


async def test_what_is_written_during_a_sync_is_not_covered_by_it() -> None:
    disk = Disk()
    barrier, _ = made(disk)
    barrier.wrote()
    first = barrier.wait()
    await disk.has_started()
    barrier.wrote()
    disk.go.release()
    await first
    later = asyncio.ensure_future(barrier.wait())
    await disk.has_started()
    assert not later.done()
    disk.go.release()
    await later
    barrier.close()


async def test_one_who_gives_up_does_not_take_the_others_along() -> None:
    disk = Disk()
    barrier, _ = made(disk)
    barrier.wrote()
    gone, stays = asyncio.ensure_future(barrier.wait()), asyncio.ensure_future(barrier.wait())
    await disk.has_started()
    gone.cancel()
    disk.go.release()
    await stays
    assert gone.cancelled()
    barrier.close()


@pytest.mark.parametrize("error", [StorageError("no"), RuntimeError("no")])
async def test_after_a_failed_sync_nobody_is_told_that_it_worked(error: Exception) -> None:
    disk = Disk()
    disk.error = error
    barrier, failed = made(disk)
    barrier.wrote()
    first = barrier.wait()
    await disk.has_started()
    barrier.wrote()
    second = barrier.wait()
    disk.go.release()
    for one in (first, second):
        with pytest.raises(StorageError, match="no"):
            await one
    assert len(failed) == 1
    assert disk.syncs == 1
    barrier.close()


async def test_a_new_start_forgets_what_was_not_synced() -> None:
    disk, other = Disk(), Disk()
    barrier, _ = made(disk)
    barrier.wrote()
    barrier.start(other.sync)
    await barrier.wait()
    assert (disk.syncs, other.syncs) == (0, 0)
    barrier.close()


async def test_who_still_waits_at_the_end_is_told() -> None:
    disk = Disk()
    for on_disk in (True, False):
        barrier, _ = made(disk)
        barrier.wrote()
        first = barrier.wait()
        await disk.has_started()
        barrier.wrote()
        second = barrier.wait()
        if on_disk:
            barrier.start(lambda: None)
        disk.go.release()
        barrier.close()
        await first
        if on_disk:
            await second
        else:
            with pytest.raises(StorageError, match="closed"):
                await second


def test_a_loop_that_ended_does_not_hold_up_the_next() -> None:
    disk = Disk()
    barrier, _ = made(disk)
    barrier.wrote()

    async def give_up() -> None:
        barrier.wait()
        await disk.has_started()

    async def wait() -> None:
        await barrier.wait()

    asyncio.run(give_up())
    disk.go.release(2)
    asyncio.run(wait())
    barrier.close()


def files(folder: Path) -> tuple[Path, Path]:
    database, wal = folder / "journal.db", folder / "journal.db-wal"
    database.write_bytes(b"pages")
    wal.write_bytes(b"frames")
    return database, wal


def test_a_log_is_synced_as_long_as_it_is_the_same_file(tmp_path: Path) -> None:
    database, wal = files(tmp_path)
    log = WalFile(database)
    log.sync()
    wal.rename(tmp_path / "aside")
    with pytest.raises(StorageError):
        log.sync()
    wal.write_bytes(b"other")
    with pytest.raises(StorageError, match="replaced"):
        log.sync()
    log.close()
    log.close()


def test_a_database_that_is_gone_fails_the_sync_of_its_log(tmp_path: Path) -> None:
    database, _ = files(tmp_path)
    log = WalFile(database)
    database.unlink()
    with pytest.raises(StorageError):
        log.sync()
    log.close()
    with pytest.raises(StorageError):
        log.sync()


def test_without_a_log_there_is_nothing_to_open(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"journal\.db-wal"):
        WalFile(tmp_path / "journal.db")


def test_files_and_folders_can_be_synced(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        sync_file(file.fileno())
    sync_folder(tmp_path)
    with pytest.raises(OSError, match="No such"):
        sync_folder(tmp_path / "none")
