"""A process that writes a journal until it is stopped, and says each thing it was promised.

    python child.py loop FOLDER          commit for ever; a line for each step that was taken
    python child.py barrier FOLDER       one step, one barrier, one line
    python child.py faults FOLDER        steps, barriers and recoveries, whatever the disk does
    python child.py full FOLDER          on a small file system, which it fills

Every line is one ``write`` straight to the descriptor: nothing is said that is not so yet.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from flybridge.errors import StorageError, StorageFullError
from flybridge.session.ports import Write
from flybridge.store.sqlite import SqliteJournal
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    batch_of,
    full_step,
    input_row,
    read_all,
    session_row,
)


def say(what: str) -> None:
    os.write(1, what.encode() + b"\n")


def opened(folder: str, ballast_bytes: int = 2**20) -> SqliteJournal:
    path = Path(folder) / "journal.db"
    return SqliteJournal.open(str(path), boot="boot", ballast_bytes=ballast_bytes)


def last_seq(journal: SqliteJournal) -> int:
    return sum(row.last_seq for row in journal.sessions())


def loop(folder: str) -> None:
    journal = opened(folder)
    seq = last_seq(journal)
    if not seq:
        journal.commit(Write(session=ONE, row=session_row()))
    while True:
        count = 1 + seq % 5
        claim = input_row(f"me:{seq + count}")
        journal.commit(Write(session=ONE, batches=[batch_of(seq + 1, count)], claims=[claim]))
        seq += count
        say(str(seq))


async def barrier(folder: str) -> None:
    journal = opened(folder)
    journal.commit(full_step(1))
    await journal.barrier()
    say("promised")
    os._exit(0)  # as a power cut would: nothing is tidied up


async def faults(folder: str) -> None:
    """Try each step until it is taken and on disk; say what happened."""
    try:
        journal = opened(folder)
    except StorageError as error:
        say(f"refused to open: {error}")
        return
    for step in range(last_seq(journal) // 2 + 1, 7):
        for _ in range(100):
            try:
                if last_seq(journal) < 2 * step:
                    journal.commit(full_step(step))
                await journal.barrier()
                break
            except StorageError as error:
                say(f"refused {error}")
            try:
                journal.recover()
            except StorageError as error:
                say(f"not yet: {error}")
        say(f"step {last_seq(journal) // 2}")
    try:
        journal.close()
    except StorageError as error:
        say(f"refused to close: {error}")


async def full(folder: str) -> None:
    junk = str(Path(folder) / "junk")
    journal = opened(folder)
    journal.commit(Write(session=ONE, row=session_row()))
    fill_disk(Path(junk))
    seq = 1
    try:
        while True:
            journal.commit(Write(session=ONE, batches=[batch_of(seq, 100)]))
            seq += 100
    except StorageFullError:
        say("full")
    assert last_seq(journal) == seq - 1
    try:
        journal.commit(Write(session=ONE, batches=[batch_of(seq)]))
    except StorageFullError:
        say("still full")
    journal.commit(Write(session=ONE, batches=[batch_of(seq)]), urgent=True)
    await journal.barrier()
    say("urgent passed")
    try:
        journal.recover()
    except StorageFullError:
        say("not yet")
    os.unlink(junk)  # noqa: PTH108
    journal.recover()
    journal.commit(Write(session=ONE, batches=[batch_of(seq + 1)]))
    await journal.barrier()
    say("goes on")
    journal.close()
    journal = opened(folder, ballast_bytes=2**30)
    assert len(read_all(journal, ONE, 0, PLENTY)) == seq + 1
    say("all there")
    try:
        journal.commit(Write(session=ONE, batches=[batch_of(seq + 2)]))
    except StorageFullError:
        say("opened without ballast")
    journal.commit(Write(session=ONE, batches=[batch_of(seq + 2)]), urgent=True)
    journal.close()
    say("urgent passed")


def fill_disk(junk: Path) -> None:
    with junk.open("wb", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:  # full, to the last byte of that size
                pass


if __name__ == "__main__":
    what, where = sys.argv[1], sys.argv[2:]
    if what == "loop":
        loop(*where)
    else:
        run = {"barrier": barrier, "faults": faults, "full": full}[what]
        asyncio.run(run(*where))
