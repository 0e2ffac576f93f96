"""The durable journal and what may happen to it: kill -9, a full disk, one that fails.

Real processes, real errors from the kernel; ``child.py`` says what it was promised.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flybridge.errors import StorageError
from flybridge.model.ids import InputKey
from flybridge.session.ports import Write
from flybridge.store.sqlite import SqliteJournal
from flybridge.testing.steps import (
    ONE,
    PLENTY,
    batch_of,
    full_step,
    lines_of,
    read_all,
    session_row,
    told_by,
)

CHILD = [sys.executable, str(Path(__file__).with_name("child.py"))]


def opened(folder: Path, boot: str = "boot") -> SqliteJournal:
    return SqliteJournal.open(str(folder / "journal.db"), boot=boot, ballast_bytes=4096)


def run(*argv: str, check: bool = True) -> list[str]:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=50)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout.splitlines()


# ---- kill -9 ------------------------------------------------------------------------------------


def test_what_was_acknowledged_before_kill_9_is_there_without_a_gap(tmp_path: Path) -> None:
    promised = 0
    for round_ in range(6):
        child = subprocess.Popen([*CHILD, "loop", str(tmp_path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(1 + 60 * round_):
            promised = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split(b"\n")[:-1]  # said before it died
        child.wait()
        child.stdout.close()
        promised = int(rest[-1]) if rest else promised
        journal = opened(tmp_path)
        lines = read_all(journal, ONE, 0, PLENTY)
        assert len(lines) >= promised
        assert lines == lines_of(batch_of(1, len(lines)))
        assert journal.find(ONE, InputKey(f"me:{promised}")) is not None
        assert [row.epoch for row in journal.sessions()] == [1]
        journal.close()


# ---- power loss ---------------------------------------------------------------------------------


@pytest.mark.needs("ptrace")
def test_a_barrier_comes_after_the_last_write_and_before_the_promise(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    calls = ["strace", "-f", "-y", "-o", str(log), "-e", "trace=pwrite64,fdatasync,write"]
    assert run(*calls, *CHILD, "barrier", str(tmp_path)) == ["promised"]
    text = log.read_text()
    ends = {
        "written": text.rindex("journal.db-wal>, "),
        "synced": max(at.end() for at in re.finditer(r"fdatasync\(\d+<[^>]*db-wal>", text)),
        "promised": text.rindex("promised"),
    }
    assert sorted(ends, key=lambda name: ends[name]) == ["written", "synced", "promised"]


# ---- a disk that fails --------------------------------------------------------------------------


@pytest.mark.needs("ptrace")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "numbers", "every"),
    [
        ("fdatasync:error=EIO:when={}", range(1, 30), 1),
        ("fdatasync:error=ENOSPC:when={}..{}", range(2, 30), 1),
        ("pwrite64:error=EIO:when={}", range(1, 300), 16),
        ("pwrite64:error=ENOSPC:when={}..{}", range(4, 300), 16),
    ],
)
def test_nothing_is_promised_that_the_disk_refused(
    tmp_path: Path, fault: str, numbers: range, every: int
) -> None:
    hits = 0
    for number in numbers[::every]:
        folder = tmp_path / str(number)
        folder.mkdir(mode=0o700)
        opened(folder).close()
        inject = f"inject={fault.format(number, number + 4)}"
        said = run("strace", "-f", "-o", "/dev/null", "-e", inject, *CHILD, "faults", str(folder))
        if not any("refused" in line for line in said) and "step 6" in said:
            break  # past the last write there is
        hits += 1
        promised = [line for line in said if line.startswith("step")]
        assert promised == [f"step {step}" for step in range(1, len(promised) + 1)]
        journal = opened(folder)
        lines = read_all(journal, ONE, 0, PLENTY)
        assert len(lines) >= 2 * len(promised)
        assert lines == lines_of(batch_of(1, 12))[: len(lines)]
        for step in range(len(lines) // 2 + 1, 7):
            journal.commit(full_step(step))  # nothing half of it is in the way
        journal.close()
    assert hits > 3


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """Let writes beyond ``size`` fail, as they do on a broken disk: short, then not at all."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_commit_that_fails_at_any_write_leaves_nothing(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    step, failures = 1, 0
    journal.commit(full_step(step))
    wal = tmp_path / "journal.db-wal"
    for room in [*range(0, 40_000, 1777), 10**6]:
        before = told_by(journal)
        try:
            with no_file_longer_than(wal.stat().st_size + room):
                journal.commit(full_step(step + 1))
        except StorageError:
            failures += 1
            assert told_by(journal) == before
            with pytest.raises(StorageError):
                journal.commit(full_step(step + 1))
            journal.recover()
            assert told_by(journal) == before
            journal.commit(full_step(step + 1))
        step += 1
        assert read_all(journal, ONE, 0, PLENTY) == lines_of(batch_of(1, 2 * step))
    assert 3 < failures < step - 1
    assert [row.epoch for row in journal.sessions()] == [1]
    journal.close()


def test_recovery_waits_for_the_disk(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.commit(full_step(1))
    before = told_by(journal)
    with no_file_longer_than(4096):
        with pytest.raises(StorageError):
            journal.commit(full_step(2))
        for _ in range(3):
            with pytest.raises(StorageError):
                journal.recover()
            with pytest.raises(StorageError):
                journal.commit(full_step(2), urgent=True)
    journal.recover()
    assert told_by(journal) == before
    journal.commit(full_step(2))
    journal.close()


def test_numbers_that_were_lost_are_not_used_again_in_the_same_epoch(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.commit(Write(session=ONE, row=session_row(), batches=[batch_of(1)]))
    journal.close()
    journal = opened(tmp_path)
    journal.commit(Write(session=ONE, batches=[batch_of(2)]))
    with no_file_longer_than(4096), pytest.raises(StorageError):
        journal.commit(Write(session=ONE, batches=[batch_of(3)]))
    os.truncate(tmp_path / "journal.db-wal", 0)  # the disk had none of it
    journal.recover()
    (row,) = journal.sessions()
    assert (row.epoch, row.last_seq) == (2, 1)
    generation = journal.generation
    journal.commit(Write(session=ONE, batches=[batch_of(2, epoch=2)]))
    journal.close()
    journal = opened(tmp_path, boot="other")
    assert journal.generation > generation
    assert [row.epoch for row in journal.sessions()] == [2]
    journal.close()


# ---- a disk that is full ------------------------------------------------------------------------


def test_a_full_disk_takes_what_is_urgent_and_goes_on_later(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    script = 'mount -t tmpfs -o size=6m,mode=700 none "$0" && exec "$@"'
    own_mounts = ["unshare", "-rm", "sh", "-c", script, str(small)]
    if shutil.which("unshare") is None or run(*own_mounts, "echo", "ok", check=False) != ["ok"]:
        pytest.skip("could not run: needs a file system of its own")
    said = run(*own_mounts, *CHILD, "full", str(small))
    assert said == [
        *("full", "still full", "urgent passed", "not yet", "goes on", "all there"),
        *("opened without ballast", "urgent passed"),
    ]


def test_the_locks_of_a_dead_process_are_not_waited_for(tmp_path: Path) -> None:
    run(*CHILD, "barrier", str(tmp_path))
    journal = opened(tmp_path)
    assert len(read_all(journal, ONE, 0, PLENTY)) == 2
    journal.close()
